// The verbs of a full-batch pass: gather goes to the exchange, columns are whole, reduce sums over the ranks that share the pass.
#pragma once

#include <vector>

#include "comm/device_sums.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

/// One per schedule, told which pass and layer are next. References outlive it.
class FullBatchPass final : public Pass {
 public:
  /// outputs: rows that each layer computes. all_vertices: over the ranks of the group.
  FullBatchPass(Context& ctx, Communicator& comm, RankGroup group, const GraphPart& part, Exchange& exchange,
                std::vector<Index> outputs, std::uint64_t seed, double all_vertices)
      : Pass(ctx),
        comm_(comm),
        group_(std::move(group)),
        part_(part),
        exchange_(exchange),
        outputs_(std::move(outputs)),
        sums_(ctx.device) {
    state_.seed = seed;
    state_.reduced_rows = all_vertices;
  }

  Gather& gather(const Rows& rows) override { return exchange_.gather({layer_, rows, purpose()}); }
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override {
    return exchange_.gather_back({layer_, rows, purpose()}, d_rows);
  }
  void reduce(std::span<double> values) override {
    sums_.sum(ctx_, comm_, Traffic::kStatistics, group_, values);
  }

  /// `step` keys the pass's draws.
  void begin(std::int64_t step, bool training) {
    state_.step = step;
    state_.training = training;
    purpose_ = training ? Traffic::kHalo : Traffic::kEvaluation;
  }
  /// The pass over constant layers, once.
  void prepare() { begin(0, false), purpose_ = Traffic::kSetup; }
  void bind(int layer) override {
    layer_ = layer;
    state_.destinations = outputs_[std::size_t(layer)];
    const auto rows = std::size_t(state_.destinations);
    state_.ids = part_.ids.first(rows);
    if (!part_.row_weights.empty()) state_.weights = part_.row_weights.first(rows);
  }

 private:
  Traffic purpose() const { return state_.repeating ? Traffic::kRecompute : purpose_; }

  Communicator& comm_;
  RankGroup group_;
  const GraphPart& part_;
  Exchange& exchange_;
  std::vector<Index> outputs_;  // by layer
  DeviceSum sums_;
  Traffic purpose_ = Traffic::kHalo;
  int layer_ = 0;
};

}  // namespace atl
