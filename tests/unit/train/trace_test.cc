// The share of communication that is hidden behind computing, read from the file of `atoll run --trace`.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "base/json.h"
#include "comm/traced_ranks.h"
#include "telemetry/run_folder.h"
#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr int kRanks = 2, kEpochs = 6, kHalosOfAnEpoch = 4;  // two layers, there and back

/// A loss and an update that take 50 ms each, in place of a large model: forward's transfers have the one to
/// hide behind, backward's the other, however busy the machine is.
class LongStep final : public TrainingStep {
 public:
  explicit LongStep(Context& ctx) : ctx_(ctx) {}
  void loss(ConstMatrixView, const LossRows&, MatrixView d_logits) override {
    fill(ctx_, 1, d_logits);
    std::this_thread::sleep_for(milliseconds(50));
  }
  void update() override { std::this_thread::sleep_for(milliseconds(50)); }

 private:
  Context& ctx_;
};

class TraceFile : public testing::Test {
 protected:
  TraceFile() { write_small_data(folder_ / "small", {}); }

  Json trace_of_long_steps(std::vector<std::string> fields) {
    fields.push_back("training.inputDropout={rate: 0.3}");  // or the trainer would let go of the features
    const Job job = small_job(fields);
    run_traced_ranks(kRanks, [&](Communicator& comm) {
      const std::vector<ClockOffset> clocks = measure_clock_offsets(comm);
      SmallRank rank(comm, job, folder_ / "small", 1);
      const auto schedule =
          make_schedule({rank.ctx, comm, job, rank.trainer->model(), rank.trainer->parameters(),
                         rank.data.training_part(), rank.data.training_vertices(), false});
      LongStep step(rank.ctx);
      for (int epoch = 1; epoch <= kEpochs; ++epoch) schedule->train(epoch, step);
      write_trace(comm, *comm.trace(), clocks, 2, folder_ / "trace.json");
    });
    return written_trace();
  }

  Json trace_of_run(const std::vector<std::string>& fields) {
    const Job job = small_job(fields);
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job, kRanks), graph_transforms(job),
                        training_marks(dataset, job));
    std::filesystem::create_directories(folder_ / "run");
    run_traced_ranks(kRanks, [&](Communicator& comm) {
      Watcher watcher;
      SessionOptions o;
      o.job = job;
      o.job_yaml = "small";
      o.dataset = folder_ / "small";
      o.output = folder_ / "run";
      o.trace = folder_ / "trace.json";
      o.observer = &watcher;
      run_session(comm, o);
    });
    return written_trace();
  }

  Json written_trace() {
    std::ifstream file(folder_ / "trace.json");
    return parse_json(file);
  }

  TemporaryFolder folder_;
};

TEST_F(TraceFile, PipeGcnsTransfersLieInsideComputeAndTheSynchronousBaselinesDoNot) {
  const auto share = [&](const std::string& strategy) {
    return hidden_share(trace_of_long_steps({strategy}), kRanks, kHalosOfAnEpoch);
  };
  EXPECT_GT(share("strategy.kind=pipegcn"), 0.5);
  EXPECT_LT(share("strategy.graph={overlap: false}"), 0.25);
}

/// Sampling and fetching on a thread of their own, features on a lane of theirs, while earlier batches train.
TEST_F(TraceFile, BatchesAreMadeBesideTraining) {
  const Json trace =
      trace_of_run({"strategy={kind: minibatch, minibatch: {batchSize: 3}}", "training.epochs=3",
                    "training.evaluateEvery=3", fmt::format("placement.ranks={}", kRanks)});
  for (int rank = 0; rank < kRanks; ++rank) {
    std::set<std::string> made, sent;
    for (const Json& e : events_of(trace, "sampling", rank)) {
      made.insert(e["name"]);
      EXPECT_EQ(e["tid"], 4);
    }
    EXPECT_THAT(made, testing::UnorderedElementsAre("sampling", "fetching"));
    for (const Json& e : events_of(trace, "communication", rank))
      if (e["tid"] == 3) sent.insert(e["name"]);
    EXPECT_THAT(sent, testing::IsSupersetOf({"structure", "features"}));
  }
}

TEST_F(TraceFile, ItTellsRankStreamLayerDirectionAndPurposeOfTheLastEpochs) {
  const Json trace = trace_of_run({"strategy.kind=pipegcn", "training.epochs=6", "training.evaluateEvery=6"});
  EXPECT_FALSE(trace["otherData"]["earlierSpansMissing"]);
  EXPECT_EQ(trace["otherData"]["clockErrorMicroseconds"].size(), std::size_t(kRanks));
  for (int rank = 0; rank < kRanks; ++rank) {
    std::set<std::string> names, sent;
    std::set<int> epochs;
    for (const Json& e : events_of(trace, "compute", rank)) {
      names.insert(e["name"]), epochs.insert(int(e["args"]["epoch"]));
      EXPECT_EQ(e["tid"], 0);
      EXPECT_GE(double(e["ts"]), 0);
    }
    EXPECT_THAT(names,
                testing::IsSupersetOf({"forward of layer 2", "forward of layer 3", "backward of layer 3",
                                       "loss", "update", "evaluation of layer 3"}));
    EXPECT_THAT(epochs, testing::ElementsAre(4, 5, 6));
    for (const Json& e : events_of(trace, "communication", rank)) {
      sent.insert(fmt::format("{}, stream {}", e["name"].get<std::string>(), e["tid"].get<int>()));
      EXPECT_GT(e["args"]["bytes"], 0);
    }
    EXPECT_THAT(sent, testing::UnorderedElementsAre(
                          "halo of layer 2, stream 2", "halo of layer 3, stream 2",
                          "halo_gradient of layer 2, stream 2", "halo_gradient of layer 3, stream 2",
                          "evaluation of layer 2, stream 2", "evaluation of layer 3, stream 2",
                          "gradient of layer 1, stream 1", "gradient of layer 2, stream 1",
                          "gradient of layer 3, stream 1"));
  }
}

}  // namespace
}  // namespace atl
