// The full-batch schedule: every epoch is one pass over all of a rank's rows, forward and backward. An
// Exchange brings the halo rows, and memory is allocated once (layer_runner.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "comm/device_sums.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

/// The verbs of full-batch passes. One per schedule, which tells it the next pass and layer. References must
/// outlive it.
class FullBatchPass final : public Pass {
 public:
  /// outputs: how many rows each layer computes. all_vertices: how many vertices the group's ranks own
  /// together.
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

  Gather& gather(const Rows& rows) override {
    return exchange_.gather({layer_, rows, purpose(), state_.sent});
  }
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
  /// Begins the pass over constant layers, once.
  void prepare() { begin(0, false), purpose_ = Traffic::kSetup; }
  void bind(int layer) override {
    layer_ = layer;
    state_.boundary = part_.boundary;
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

/// Computes the model's leading constant layers, each from the one before; what they gather is sent once.
/// features: (owned, F). outputs: by layer, the number of rows that it computes. last: (outputs of
/// first_in_place(), the last one's columns); its first rows become the last layer's output. Layers before
/// first_in_place() have temporary memory, stored like `last`. Collective.
void compute_constant(const Model& model, Parameters& parameters, FullBatchPass& pass, const Rows& features,
                      std::span<const Index> outputs, MatrixView last);

/// Makes an exchange for another part.
using ExchangeOf =
    std::function<std::unique_ptr<Exchange>(const GraphPart& part, std::vector<ExchangedLayer> layers)>;

struct FullBatchOptions {
  std::uint64_t seed = 1;  // of all draws
  Passes passes = Passes::kTraining;
  int steps = 1;                // steps of an epoch, each of which trains on another part
  ExchangeOf exchange_of = {};  // null: there are no other parts
};

/// Makes the exchange once the schedule knows what its layers need of it.
using MakeExchange = FunctionRef<std::unique_ptr<Exchange>(std::vector<ExchangedLayer>)>;

/// Collective: all ranks make the same calls. References must outlive it.
class FullBatch final : public Schedule {
 public:
  FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const GraphPart& part, double all_vertices, const FullBatchOptions& options,
            MakeExchange make_exchange);

  std::int64_t steps() const override { return options_.steps; }
  void train(std::int64_t step, TrainingStep& session) override;
  ConstMatrixView infer() override;
  ConstMatrixView embeddings() const override;
  void count_non_finite(const double* unless, double* by_layer) override;
  ScheduleBytes bytes() const override;
  void take(const GraphPart& part, double all_vertices) override;
  std::vector<NamedMatrix> state() override { return exchange_->state(); }
  void report(FigureRequest& request) override { exchange_->report(request); }

 private:
  void begin_part(double all_vertices, MakeExchange make_exchange);
  /// The last layer's output (owned, classes), valid until the next call. `step` keys this pass's draws.
  MatrixView forward(std::int64_t step, bool training);
  void compute_prefix();
  void enter(Work work) const;
  std::vector<ExchangedLayer> exchanged_layers() const;
  std::vector<LayerRows> layer_rows() const;
  RangeInput input() const;
  int layers() const { return int(model_.layers.size()); }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Context& ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: no trace is wanted
  const Model& model_;
  Parameters& parameters_;
  const GraphPart* part_;
  const FullBatchOptions options_;
  int prefix_ = 0;              // number of constant layers, which are computed once
  std::vector<Index> outputs_;  // by layer, the number of rows that it computes
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<FullBatchPass> pass_;
  Matrix prefix_memory_;
  MatrixView prefix_output_;  // (owned, width)
  LayerRunner runner_;
  mutable PassMemory memory_;  // mutable because embeddings() takes a view of it
};

}  // namespace atl
