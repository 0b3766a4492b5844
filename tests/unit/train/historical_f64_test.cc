// Sampler `historical` of strategy minibatch, through the whole trainer: in some cases it equals sampler
// `neighbour`, in some the exact result; neither time nor threads change a bit.
#include <gmock/gmock.h>

#include "train/every_model.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

class Historical : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override {
    SmallData data = GetParam().data;
    data.splits = 1, data.multi_label = true;
    write_small_data(folder_ / "every_trains", data);
    write_small_data(folder_ / "small", GetParam().data);
  }
  static std::vector<double> losses(const Job& job, const std::filesystem::path& data, int steps,
                                    double rate) {
    std::vector<double> all;
    run_ranks(job.placement.ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, data, 1);
      for (int step = 0; step < steps; ++step) {
        double loss = rank.trainer->train_step(step + 1, rate);
        comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
        if (comm.rank() == 0) all.push_back(loss);
      }
    });
    return all;
  }
  TemporaryFolder folder_;
};

TEST_P(Historical, OnOneRankIsNeighbour) {
  const auto train = [&](const std::string& sampler) {
    return train_small(historical_job(GetParam().fields, 1, "batchSize: 7", sampler, "2"), folder_ / "small",
                       1, 5);
  };
  const SmallResult got = train("historical"), expected = train("neighbour");
  EXPECT_EQ(got.losses, expected.losses);
  EXPECT_EQ(got.weights, expected.weights);
}

/// All vertices in each step: a layer's embeddings are exact a step after those of the layer below, if
/// nothing changes meanwhile.
TEST_P(Historical, IsExactWhereWeightsStayAndAllIsComputed) {
  std::vector<std::string> fields = GetParam().fields;
  for (const char* each : {"training.dropout=0", "training.inputDropout={rate: 0}",
                           "training.loss=binaryCrossEntropy", "training.metric=f1Micro"})
    fields.emplace_back(each);
  if (small_job(fields).model.kind == "gat") fields.emplace_back("training.attentionDropout=0");
  constexpr int kSteps = 6;
  for (const int ranks : {2, 3}) {
    const auto train = [&](const std::string& sampler) {
      return losses(historical_job(fields, ranks, "batchSize: 60", sampler), folder_ / "every_trains", kSteps,
                    0);
    };
    const auto got = train("historical"), exact = train("neighbour");
    EXPECT_GT(std::abs(got[0] / exact[0] - 1), 1e-4) << "nothing is there in the first step";
    EXPECT_NEAR(got[kSteps - 1] / exact[kSteps - 1], 1, 1e-9) << ranks << " ranks";
  }
}

/// Others' embeddings stand for a step as they came, whoever waits for whom.
TEST_P(Historical, ThreadsPrefetchAndStructureChangeNothing) {
  const auto train = [&](const std::string& more) {
    return losses(
        historical_job(GetParam().fields, 3, "batchSize: 7, maxAge: 5, delay: 2" + more, "historical", "2"),
        folder_ / "small", 12, 0.05);
  };
  const auto got = train("");
  EXPECT_NE(got[0], got[3]);
  EXPECT_EQ(train(", prefetch: 7, threads: 3"), got);
  EXPECT_EQ(train(", structure: mapped"), got);
  EXPECT_EQ(train(", cache: {bytes: 2048, policy: presampled}"), got);
}

INSTANTIATE_TEST_SUITE_P(Models, Historical, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, Historical,
                         testing::Values(SmallCase{"weighted_directed",
                                                   {"model.kind=sage", "model.norm=layer"},
                                                   {.weighted = true, .symmetric = false}},
                                         SmallCase{"recomputed",
                                                   {"model.kind=gat", "training.recompute=layer"}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
