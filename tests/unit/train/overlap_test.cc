// Communication overlaps computing in each strategy that claims it: read from the trace of ranks whose every
// block of sources takes five times as long as a message, however busy the machine is.
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "comm/traced_ranks.h"
#include "model/aggregate.h"
#include "telemetry/run_folder.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kEpochs = 4;

constexpr auto take_time = [] { std::this_thread::sleep_for(5 * kTransfer); };

/// A layer that visits what the strategy brings it, with a product of own rows beside, and takes its time in
/// place of sums.
class LongSum final : public Layer {
 public:
  explicit LongSum(Index cols)
      : Layer({.name = "LongSum", .in = cols, .out = cols, .cost = {0, cols}, .gathers = true}) {}

  void forward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&,
               MatrixView out) const override {
    sum_over(verbs, input.rows, {out}, take_time, [&](const Source&, MatrixView sum, bool, bool) {
      take_time();
      fill(verbs.context(), 1, sum);
    });
  }
  void backward(Verbs& verbs, const LayerWeights&, const LayerInput& input, Saved&, MatrixView,
                MatrixView d_out, const LayerGradient& gradient) const override {
    if (gradient.rows.cols == 0) return;
    sum_back(verbs, input.rows, d_out, gradient.rows, take_time, [&](const Source& source, ConstMatrixView) {
      take_time();
      fill(verbs.context(), 1, source.d_rows);
    });
  }
};

/// Neither loss nor update: nothing else that a transfer could hide behind.
class NoStep final : public TrainingStep {
 public:
  explicit NoStep(Context& ctx) : ctx_(ctx) {}
  void loss(ConstMatrixView, const LossRows&, MatrixView d_logits) override { fill(ctx_, 1, d_logits); }
  void update() override {}

 private:
  Context& ctx_;
};

struct Overlap {
  const char* name;
  int ranks;
  std::vector<std::string> fields;
  double share;  // of what travels, hidden
};

std::ostream& operator<<(std::ostream& out, const Overlap& o) {
  return out << o.name;
}

class Hidden : public testing::TestWithParam<Overlap> {};

TEST_P(Hidden, TransfersLieInsideTheWorkOnBlocks) {
  const auto& [name, ranks, fields, expected] = GetParam();
  TemporaryFolder folder;
  const SmallData data;
  write_small_data(folder / "small", data);
  const Job job = small_job(fields);
  run_traced_ranks(ranks, [&](Communicator& comm) {
    const std::vector<ClockOffset> clocks = measure_clock_offsets(comm);
    SmallRank rank(comm, job, folder / "small", 1);
    // The trainer has released its features.
    const RankData fresh(job, rank.dataset, rank.prepared, comm.rank());
    Model model;
    for (int l = 0; l < 3; ++l) model.layers.push_back(std::make_unique<LongSum>(data.features));
    Parameters none(model.parameters(), 1);
    const auto schedule = make_schedule(
        {rank.ctx, comm, job, model, none, fresh.training_part(), rank.data.training_vertices(), false});
    NoStep step(rank.ctx);
    for (int epoch = 1; epoch <= kEpochs; ++epoch) schedule->train(epoch, step);
    write_trace(comm, *comm.trace(), clocks, 2, folder / "trace.json");
  });
  std::ifstream file(folder / "trace.json");
  const auto trace = parse_json(file);
  const int messages = 2 * 2 * (kEpochs - 1);  // at least: two layers' rows cross, there and back
  EXPECT_NEAR(hidden_share(trace, ranks, messages), expected, 0.2);
}

/// Broadcasts of four ranks: of three rounds of gradients the last one, behind which no block is left, is
/// waited for. A grid of two by two hides sums and their gradients behind own products; two of its ranks have
/// no own block in their column, and wait for the first of two rounds and the last of the gradients'.
INSTANTIATE_TEST_SUITE_P(
    Strategies, Hidden,
    testing::Values(Overlap{"graph", 2, {}, 1},
                    Overlap{"graph_without_overlap", 2, {"strategy.graph={overlap: false}"}, 0},
                    Overlap{"bns", 2, {"strategy.kind=bns", "strategy.bns={rate: 0.5}"}, 1},
                    Overlap{"cagnet", 4, {"strategy.kind=cagnet"}, 5.0 / 6},
                    Overlap{"cagnet_on_a_grid",
                            4,
                            {"strategy.kind=cagnet", "strategy.cagnet={replication: 2}", "placement.ranks=4"},
                            4.0 / 5},
                    Overlap{"sancus", 4, {"strategy.kind=sancus"}, 5.0 / 6}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
