// The schedule of mini-batches: each step is a pass over one batch of vertices and the neighbours drawn for
// them (sampler/). Other threads make the next steps' batches while this one trains.
#pragma once

#include <optional>
#include <string>

#include "dataset/format/mapped_file.h"
#include "strategies/schedule/batch_pass.h"
#include "strategies/schedule/device_features.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {

struct MiniBatchOptions {
  BatchSamplingOptions batches;  // with features; the model completes `sampling`
  int ahead = 2;                 // BatchStream::Options
  Passes passes = Passes::kTraining;
  Index slab_bytes = atl::slab_bytes(0);  // for inference
  std::int64_t epochs = 1;                // batches beyond these aren't made ahead
  double gpu_features = 0;                // share of a GPU's memory for own rows' features
  /// Whether constant layers are computed once, for all own rows. Batches then read neither neighbours nor
  /// features.
  bool once = false;
  std::string once_folder{};  // of a file on the host with constant layers' output; empty: the device has it
  bool inductive = false;     // BatchGraph's two graphs differ
};

/// The step that is trained.
struct BatchStep {
  std::int64_t step, epoch;  // steps of the run, from 0; epochs from 1
  const StreamedBatch& batch;
  PassMemory& memory;  // of the step's pass, in the batch's shape
};

/// What a strategy does around each step of mini-batch training. One per rank; calls are collective, and made
/// by the training thread.
class BatchHooks {
 public:
  virtual ~BatchHooks() = default;
  /// Adds to the options that batches are made with.
  virtual void prepare(BatchSamplingOptions& batches) = 0;
  /// From this call on, the threads that make batches must not wait for the hooks, because they are about to
  /// end.
  virtual void close() {}
  /// Called before `step` (from 0) is trained, while no batch is being made. In a resumed run, state() has
  /// been filled by then.
  virtual void start(std::int64_t step) = 0;
  virtual void before_forward(const BatchStep& /*at*/) {}
  virtual void after_forward(const BatchStep& at) = 0;
  /// As Schedule::state().
  virtual std::vector<NamedMatrix> state() = 0;
  /// How often memory had to grow.
  virtual std::int64_t reallocations() const { return 0; }
  virtual void count(ScheduleBytes& bytes) const = 0;
  virtual void report(FigureRequest& /*request*/) {}
};

// The output of a model's constant layers for a rank's own rows, computed once and exactly. Batches without
// neighbours read nothing else (SIGN's powers of the adjacency: Frasca et al. 2020, section 3). Other ranks'
// rows are fetched slab by slab, as in exact inference. On the host the rows may lie in a file without a
// name, which is gone with the process, whichever way that ends.

/// One per rank, used by its compute thread. The context must outlive it.
class ConstantRows {
 public:
  /// All of the model's layers that gather must be among the leading constant ones. `graph` and `options` are
  /// read only during this call. `folder`: MiniBatchOptions::once_folder. Collective.
  ConstantRows(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
               const BatchGraph& graph, const SlabOptions& options, const std::string& folder = {});

  /// (owned, the last constant layer's out), where kernels read it.
  ConstMatrixView all() const { return all_; }
  /// The rows (chosen, …) with these numbers; valid until the next call.
  ConstMatrixView of(std::span<const VertexId> rows);

  /// Bytes of memory. Rows in a file don't count: the system caches what there is room for.
  Index bytes() const { return memory_.held_bytes() + chosen_.held_bytes() + copies_.bytes(); }
  /// How often memory had to grow.
  std::int64_t reallocations() const { return reallocations_; }

 private:
  Context& ctx_;
  std::optional<ScratchMemory> file_;  // none: memory_ has the rows
  Matrix memory_, chosen_;
  ConstMatrixView all_;
  DeviceCopies copies_;
  std::int64_t reallocations_ = 0;
};

/// Collective: all ranks make the same calls. References must outlive it.
class MiniBatch final : public Schedule {
 public:
  MiniBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const BatchGraph& graph, const MiniBatchOptions& options,
            std::unique_ptr<BatchHooks> hooks = nullptr);
  ~MiniBatch() override;

  std::int64_t steps() const override { return feed_ ? feed_->seeds().steps() : 1; }
  void train(std::int64_t step, TrainingStep& session) override;
  ConstMatrixView infer() override { return inference_.infer(); }
  ConstMatrixView embeddings() const override { return inference_.embeddings(); }
  void count_non_finite(const double* unless, double* by_layer) override;
  ScheduleBytes bytes() const override;
  std::vector<NamedMatrix> state() override;
  /// Offers BatchCounts, and what the hooks have.
  void report(FigureRequest& request) override;

 private:
  void start(std::int64_t step);
  /// The input of the first layer of a batch's pass.
  RangeInput input_of(const StreamedBatch& made);
  std::int64_t reallocations() const;
  void enter(Work work) const;

  Context& ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: no trace is wanted
  Parameters& parameters_;
  const MiniBatchOptions options_;
  LayerRunner runner_;
  // for the graph that training sees; null: batches run all layers …
  const std::unique_ptr<ConstantRows> once_;
  const std::unique_ptr<ConstantRows> once_whole_;  // … and for the whole graph; null: it is the same
  const LayerRange layers_;                         // of a batch's pass
  const std::unique_ptr<DeviceFeatures> features_;  // null: this schedule doesn't train, or reads no features
  LayerwiseInference inference_;
  // For training:
  BatchPass pass_;
  PassMemory memory_;
  DeviceCopies copies_;                      // of what a step's loss reads
  const std::unique_ptr<BatchHooks> hooks_;  // null: a step is only its pass
  std::optional<BatchFeed> feed_;            // none: this schedule doesn't train
};

}  // namespace atl
