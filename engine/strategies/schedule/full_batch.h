// The full-batch schedule: every epoch is one pass over all of a rank's rows, forward and backward, with the halo rows that
// an Exchange brings, on memory that was allocated once (pass_memory.h).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "strategies/schedule/full_batch_pass.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

/// Makes another for each part.
using ExchangeOf =
    std::function<std::unique_ptr<Exchange>(const GraphPart& part, std::vector<ExchangedLayer> layers)>;

struct FullBatchOptions {
  std::uint64_t seed = 1;  // of all draws
  Passes passes = Passes::kTraining;
  int steps = 1;                // of an epoch, each of which trains on a part of its own
  ExchangeOf exchange_of = {};  // null: there are no other parts
};

/// Makes the exchange once the schedule knows what its layers need of it.
using MakeExchange = FunctionRef<std::unique_ptr<Exchange>(std::vector<ExchangedLayer>)>;

/// Collective: all ranks make the same calls. References outlive it.
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
  bool takes_parts() const override { return options_.exchange_of != nullptr; }
  void take(const GraphPart& part, double all_vertices) override;
  std::vector<NamedMatrix> state() override { return exchange_->state(); }
  void report(FigureRequest& request) override { exchange_->report(request); }

 private:
  void begin_part(double all_vertices, MakeExchange make_exchange);
  /// The last layer's output (owned, classes), valid until the next call. `step` keys this pass's draws.
  MatrixView forward(std::int64_t step, bool training);
  void compute_prefix();
  void tell(Work work) const;
  std::vector<ExchangedLayer> exchanged_layers() const;
  std::vector<LayerRows> layer_rows() const;
  RangeInput input() const;
  int layers() const { return int(model_.layers.size()); }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Context& ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: nobody asked for one
  const Model& model_;
  Parameters& parameters_;
  const GraphPart* part_;
  const FullBatchOptions options_;
  int prefix_ = 0;              // constant layers, computed once
  std::vector<Index> outputs_;  // by layer, rows that it computes
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<FullBatchPass> pass_;
  Matrix prefix_memory_;
  MatrixView prefix_output_;  // (owned, width)
  LayerRunner runner_;
  mutable PassMemory memory_;  // embeddings() looks at a row of it
};

}  // namespace atl
