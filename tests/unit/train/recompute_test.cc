// recompute: layer trades time for memory and nothing else: losses and weights keep every bit.
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

class Recomputing : public testing::TestWithParam<SmallCase> {};

TEST_P(Recomputing, ChangesNoBit) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  fields.insert(fields.end(), {"training.dropout=0.3", "training.inputDropout={rate: 0.2}"});
  const Job kept = small_job(fields);
  fields.emplace_back("training.recompute=layer");
  const Job recomputed = small_job(fields);
  for (const int ranks : {1, 3}) {
    const SmallResult a = train_small(kept, folder / "small", ranks, 8),
                      b = train_small(recomputed, folder / "small", ranks, 8);
    EXPECT_LT(a.losses.back(), a.losses.front()) << "it should learn";
    EXPECT_EQ(a.losses, b.losses) << ranks << " ranks";
    EXPECT_EQ(a.validation_loss, b.validation_loss) << ranks << " ranks";
    EXPECT_EQ(a.weights, b.weights) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Recomputing,
    testing::Values(SmallCase{"gcn", {"model.norm=batch"}}, SmallCase{"gcn_sparse", {}, {.density = 0.15}},
                    SmallCase{"gcn_bits", {}, kBitData},
                    SmallCase{"sage", {"model.kind=sage", "model.norm=layer"}},
                    SmallCase{"gat", {"model.kind=gat", "model.options={heads: 2}"}},
                    SmallCase{"gcnii", {"model.kind=gcnii", "model.layers=4"}},
                    SmallCase{"resgcn_mean", {"model.kind=resgcn", "model.options={aggregator: mean}"}},
                    SmallCase{
                        "resgcn_softmax",
                        {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}"}},
                    SmallCase{"sgc", {"model.kind=sgc"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
