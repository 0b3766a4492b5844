// The full-batch schedule: every epoch is one pass over all of a rank's rows, forward and backward, with the halo rows that
// an Exchange brings. It owns activations, saved matrices and gradient buffers, all allocated once.
#pragma once

#include <memory>
#include <vector>

#include "strategy/schedule.h"

namespace atl {

struct FullBatchOptions {
  std::uint64_t seed = 1;  // of all draws
  bool recompute =
      false;  // recompute: layer — saved matrices are made again in backward, halo rows fetched again
  bool inference_only = false;  // no backward: activations take turns in two buffers
};

/// Makes the exchange once the schedule knows what its layers need of it.
using MakeExchange = FunctionRef<std::unique_ptr<Exchange>(std::vector<ExchangedLayer>)>;

/// Collective: all ranks make the same calls. References outlive it.
class FullBatch final : public Schedule {
 public:
  FullBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const GraphPart& part, double all_vertices, const FullBatchOptions& options,
            MakeExchange make_exchange);
  ~FullBatch() override;

  void train_epoch(std::int64_t epoch, TrainingStep& step) override;
  ConstMatrixView infer() override;
  ConstMatrixView embeddings() const override;
  int first_non_finite_layer() override;
  ScheduleBytes bytes() const override;

  /// The last layer's output (owned, classes), valid until the next call. `step` keys this pass's draws.
  MatrixView forward(std::int64_t step, bool training);
  /// After a training forward: adds to the parameters' gradients. d_logits (owned, classes) is overwritten.
  /// The gradients are this rank's share: their sum over ranks is the whole.
  void backward(MatrixView d_logits);

 private:
  class Pass;
  void allocate();
  void allocate_saved();
  void compute_prefix();
  std::vector<ExchangedLayer> exchanged_layers() const;
  int gradient_turn(int layer) const;
  LayerInput input_of(int layer) const;
  void forward_layer(int layer);
  void backward_layer(int layer, MatrixView d_out, MatrixView d_in);
  LayerWeights weights_of(int layer) const { return {&parameters_, layer}; }

  Context& ctx_;
  Communicator& comm_;
  const Model& model_;
  Parameters& parameters_;
  const GraphPart& part_;
  double all_vertices_;
  FullBatchOptions options_;
  int prefix_ = 0;  // constant layers, computed once
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Pass> pass_;
  Matrix prefix_output_;  // (owned, width)
  std::vector<std::unique_ptr<Matrix>> buffers_;
  std::vector<Matrix*> outputs_;      // by layer: (owned, out), into buffers_
  std::vector<Matrix> saved_memory_;  // (1, elements): by layer, or one for all
  std::vector<Saved> saved_;          // by layer, into saved_memory_
  Matrix d_logits_;                   // (owned, classes)
  Matrix d_rows_[2];                  // (owned, widest): gradients take turns
  Matrix d_tap_;                      // (owned, tap width)
  int tapped_ = -1;                   // layer whose output is the tap
};

}  // namespace atl
