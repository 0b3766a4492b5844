// recompute: layer trades time for memory and nothing else: losses and weights keep every bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/every_model.h"

namespace atl {
namespace {

class Recomputing : public testing::TestWithParam<SmallCase> {};

TEST_P(Recomputing, ChangesNoBit) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  fields.insert(fields.end(), {"training.dropout=0.3", "training.inputDropout.rate=0.2"});
  const Job kept = small_job(fields);
  fields.emplace_back("training.recompute=layer");
  const Job recomputed = small_job(fields);
  for (const int ranks : {1, 3}) {
    const SmallResult a = train_small(kept, folder / "small", ranks, 8),
                      b = train_small(recomputed, folder / "small", ranks, 8);
    EXPECT_LT(*std::ranges::min_element(a.losses), a.losses.front()) << "it should learn";
    EXPECT_EQ(a.losses, b.losses) << ranks << " ranks";
    EXPECT_EQ(a.validation_loss, b.validation_loss) << ranks << " ranks";
    EXPECT_EQ(a.weights, b.weights) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Recomputing, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, Recomputing,
                         testing::Values(SmallCase{"sparse", {}, {.density = 0.15}},
                                         SmallCase{"bits", {}, kBitData}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
