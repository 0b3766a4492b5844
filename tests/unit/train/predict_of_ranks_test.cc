// `atoll predict` computes on one rank, whatever options the strategy had on the ranks that trained.
#include <gtest/gtest.h>

#include "dataset/format/npy.h"
#include "job/load.h"
#include "train/predictions.h"
#include "train/session.h"
#include "train/small_job.h"

namespace atl {
namespace {

struct LastRecord final : RunObserver {
  void on_result(const RunRecord& run) override { record = run; }
  RunRecord record;
};

/// A finished run on four ranks.
class RunOfFour {
 public:
  explicit RunOfFour(std::vector<std::string> fields) {
    write_small_data(folder_ / "small", {});
    for (const char* each : {"placement.ranks=4", "training.epochs=4"}) fields.emplace_back(each);
    const Job job = small_job(fields);
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job, 4), graph_transforms(job),
                        training_marks(dataset, job));
    for (const char* name : {"run", "elsewhere"}) std::filesystem::create_directories(folder_ / name);
    run_ranks(4, [&](Communicator& comm) {
      LastRecord kept;
      SessionOptions o;
      o.job = job;
      o.job_yaml = write_job(job);
      o.dataset = folder_ / "small";
      o.output = folder_ / (comm.rank() == 0 ? "run" : "elsewhere");
      o.observer = &kept;
      run_session(comm, o);
      if (comm.rank() == 0) record_ = kept.record;
    });
  }

  const RunRecord& record() const { return record_; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  Predicted predict_from(const std::string& data) const {
    return predict(
        {.model = folder_ / "run", .dataset = folder_ / data, .output = folder_ / "predicted", .threads = 1});
  }

 private:
  TemporaryFolder folder_;
  RunRecord record_;
};

class PredictOfRanks : public testing::TestWithParam<SmallCase> {};

TEST_P(PredictOfRanks, IsWhatTheRanksPredicted) {
  const RunOfFour run(GetParam().fields);
  const Predicted predicted = run.predict_from("small");
  EXPECT_EQ(predicted.metrics.test, run.record().test);
  EXPECT_EQ(predicted.metrics.validation, run.record().validation);
  EXPECT_EQ(read_bytes(run / "predicted/predictions.npy"), read_bytes(run / "run/predictions.npy"));
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, PredictOfRanks,
    testing::Values(
        SmallCase{"cagnet_grid", {"strategy.kind=cagnet", "strategy.cagnet.replication=2"}},
        SmallCase{"gnnpipe", {"strategy.kind=gnnpipe", "strategy.gnnpipe={layers: [2, 1], chunks: 8}"}},
        SmallCase{"granndis", {"strategy.kind=granndis", "placement.ranksPerServer=2"}},
        SmallCase{"p3_copies", {"strategy.kind=p3", "strategy.p3={columns: rank, copies: 2}"}},
        SmallCase{"historical",
                  {"strategy.kind=minibatch", "strategy.minibatch={sampler: historical, batchSize: 6}"}},
        SmallCase{"sancus", {"strategy.kind=sancus"}}, SmallCase{"bns", {"strategy.kind=bns"}}),
    [](const auto& each) { return each.param.name; });

TEST(PredictNewVertices, OfADataSetWithFewerVerticesThanTheRunHadChunks) {
  const RunOfFour run(
      {"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 2, chunks: 20}", "placement.partitioner=range"});
  write_small_data(run / "few", {.vertices = 12});
  run.predict_from("few");
  EXPECT_EQ(NpyArray::open(run / "predicted/predictions.npy").read<std::int32_t>().size(), 12U);
}

}  // namespace
}  // namespace atl
