// The full-batch schedule: every epoch is one pass over all of a rank's rows, forward and backward, with the halo rows that
// an Exchange brings, on memory that was allocated once (activations.h).
#pragma once

#include <memory>
#include <vector>

#include "strategy/activations.h"
#include "strategy/full_batch_pass.h"

namespace atl {

struct FullBatchOptions {
  std::uint64_t seed = 1;  // of all draws
  Passes passes = Passes::kTraining;
};

/// Makes the exchange once the schedule knows what its layers need of it.
using MakeExchange = FunctionRef<std::unique_ptr<Exchange>(std::vector<ExchangedLayer>)>;

/// Collective: all ranks make the same calls. References outlive it.
class FullBatch final : public Schedule {
 public:
  FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const GraphPart& part, double all_vertices, const FullBatchOptions& options,
            MakeExchange make_exchange);

  void train_epoch(std::int64_t epoch, TrainingStep& step) override;
  ConstMatrixView infer() override;
  ConstMatrixView embeddings() const override;
  int first_non_finite_layer() override;
  ScheduleBytes bytes() const override;
  std::vector<NamedMatrix> state() override { return exchange_->state(); }
  std::vector<LayerLateness> lateness() const override { return exchange_->lateness(); }

  /// The last layer's output (owned, classes), valid until the next call. `step` keys this pass's draws.
  MatrixView forward(std::int64_t step, bool training);
  /// After a training forward: adds to the parameters' gradients. d_logits (owned, classes) is overwritten.
  /// The gradients are this rank's share: their sum over ranks is the whole.
  /// `step`, where given, is told of each layer that is done.
  void backward(MatrixView d_logits, TrainingStep* step = nullptr);

 private:
  void compute_prefix();
  void tell(Work work, int layer = -1) const;
  std::vector<ExchangedLayer> exchanged_layers() const;
  LayerInput input_of(int layer) const;
  void forward_layer(int layer);
  void backward_layer(int layer, MatrixView d_out, MatrixView d_in, TrainingStep* step);
  int layers() const { return int(model_.layers.size()); }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  LayerWeights weights_of(int layer) const { return {&parameters_, layer}; }

  Context& ctx_;
  Trace* trace_;  // null: nobody asked for one
  const Model& model_;
  Parameters& parameters_;
  const GraphPart& part_;
  Passes passes_;
  int prefix_ = 0;  // constant layers, computed once
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<FullBatchPass> pass_;
  Matrix prefix_output_;  // (owned, width)
  std::unique_ptr<Activations> memory_;
};

}  // namespace atl
