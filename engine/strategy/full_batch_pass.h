// The verbs of a full-batch pass: gather goes to the exchange, columns are whole, reduce sums over the ranks that share the pass.
#pragma once

#include <vector>

#include "comm/device_sums.h"
#include "exchange/exchange.h"
#include "strategy/layer_runner.h"

namespace atl {

/// One per schedule, told which pass and layer are next. References outlive it.
class FullBatchPass final : public Pass {
 public:
  /// outputs: rows that each layer computes. all_vertices: over the ranks of the group.
  FullBatchPass(Context& ctx, Communicator& comm, RankGroup group, const GraphPart& part, Exchange& exchange,
                std::vector<Index> outputs, std::uint64_t seed, double all_vertices)
      : ctx_(ctx),
        comm_(comm),
        group_(std::move(group)),
        part_(part),
        exchange_(exchange),
        outputs_(std::move(outputs)),
        seed_(seed),
        all_vertices_(all_vertices),
        sums_(ctx.device) {}

  Context& context() override { return ctx_; }
  Index destinations() const override { return outputs_[std::size_t(layer_)]; }
  std::span<const VertexId> destination_ids() const override {
    return part_.ids.first(std::size_t(destinations()));
  }
  bool training() const override { return training_; }
  bool repeating() const override { return purpose_ == Traffic::kRecompute; }
  Draws draws(Purpose purpose, int layer) const override {
    return Draws(seed_, purpose, std::uint64_t(step_), std::uint64_t(layer));
  }
  Gather& gather(const Rows& rows) override { return exchange_.gather({layer_, rows, purpose_}); }
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override {
    return exchange_.gather_back({layer_, rows, purpose_}, d_rows);
  }
  void reduce(std::span<double> values) override {
    sums_.sum(ctx_, comm_, Traffic::kStatistics, group_, values);
  }
  std::span<const Real> row_weights() const override {
    return part_.row_weights.empty() ? part_.row_weights
                                     : part_.row_weights.first(std::size_t(destinations()));
  }
  double reduced_rows() const override { return all_vertices_; }

  /// `step` keys the pass's draws.
  void begin(std::int64_t step, bool training) {
    step_ = step;
    training_ = training;
    purpose_ = training ? Traffic::kHalo : Traffic::kEvaluation;
  }
  /// The pass over constant layers, once.
  void prepare() { begin(0, false), purpose_ = Traffic::kSetup; }
  void bind(int layer) override { layer_ = layer; }
  void repeat(bool on) override { purpose_ = on ? Traffic::kRecompute : Traffic::kHalo; }

 private:
  Context& ctx_;
  Communicator& comm_;
  RankGroup group_;
  const GraphPart& part_;
  Exchange& exchange_;
  std::vector<Index> outputs_;  // by layer
  std::uint64_t seed_;
  double all_vertices_;
  DeviceSum sums_;
  std::int64_t step_ = 0;
  bool training_ = false;
  Traffic purpose_ = Traffic::kHalo;
  int layer_ = 0;
};

}  // namespace atl
