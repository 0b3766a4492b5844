// Strategy `minibatch` with samplers that draw vertices for a whole step, through the whole trainer: the same
// on any number of ranks.
#include <gtest/gtest.h>

#include "job/samplers.h"
#include "train/every_model.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

class Samplers : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const std::string& options, int ranks, const std::string& structure) {
    const Job job = sampler_job(GetParam().fields, options + ", structure: " + structure, ranks);
    return train_small(job, folder_ / "small", ranks, 10);
  }
  TemporaryFolder folder_;
};

TEST_P(Samplers, TrainTheSameOnAnyNumberOfRanks) {
  for (const auto& [name, options] : every_sampler()) {
    SCOPED_TRACE(name);
    const SmallResult one = train(options, 1, "partitioned");
    EXPECT_NE(one.losses.front(), one.losses.back());
    for (const int ranks : {2, 3}) {
      SCOPED_TRACE(ranks);
      const bool mapped = ranks == 3 && name != "saintWalk";
      const SmallResult several = train(options, ranks, mapped ? "mapped" : "partitioned");
      ASSERT_EQ(several.losses.size(), one.losses.size());
      for (std::size_t i = 0; i < one.losses.size(); ++i)
        ASSERT_NEAR(several.losses[i], one.losses[i], 1e-9 * std::abs(one.losses[i])) << i;
      for (std::size_t i = 0; i < one.weights.size(); ++i)
        ASSERT_NEAR(several.weights[i], one.weights[i], 1e-8) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Samplers, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, Samplers,
                         testing::Values(SmallCase{"weighted", {"model.norm=layer"}, {.weighted = true}},
                                         SmallCase{"inductive", {"training.setting=inductive"}},
                                         SmallCase{
                                             "several_labels",
                                             {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                                             {.multi_label = true}}),
                         [](const auto& each) { return each.param.name; });

TEST(SamplerTable, TestsKnowEverySampler) {
  for (const SamplerInfo& info : sampler_infos()) {
    // Those that draw nothing for a whole step have tests of their own.
    const bool by_vertex = info.name == "neighbour" || info.name == "historical" || info.name == "none";
    EXPECT_TRUE(by_vertex || every_sampler().contains(info.name)) << info.name;
  }
}

}  // namespace
}  // namespace atl
