// The schedule of mini-batches: each step is a pass over one batch of vertices and of the neighbours that were drawn for them
// (sampler/). A thread of its own makes the next steps' batches while this one trains.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/threads.h"
#include "sampler/batch_stream.h"
#include "strategy/slab_inference.h"

namespace atl {

struct MiniBatchOptions {
  std::uint64_t seed = 1;  // of all draws
  std::vector<int> fanout;
  bool replace = false;
  Index batch_size = 1024;
  int ahead = 2;                 // BatchStream::Options
  int threads = 1;               // that make batches
  std::vector<int> cpus;         // that they run on, as training's threads do; empty: left to the kernel
  bool mapped = false;           // structure
  FeatureStoreOptions features;  // of other ranks' rows
  Passes passes = Passes::kTraining;
  bool reduces = false;                   // batch norm
  Index slab_bytes = atl::slab_bytes(0);  // of inference
  std::int64_t epochs = 1;                // batches beyond them aren't made ahead
};

/// Collective: all ranks make the same calls. References outlive it.
class MiniBatch final : public Schedule {
 public:
  MiniBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
            const BatchGraph& graph, const MiniBatchOptions& options);

  std::int64_t steps() const override { return seeds_ ? seeds_->steps() : 1; }
  void train(std::int64_t step, TrainingStep& session) override;
  ConstMatrixView infer() override { return inference_.infer(); }
  ConstMatrixView embeddings() const override { return inference_.embeddings(); }
  void count_non_finite(const double* unless, double* by_layer) override;
  ScheduleBytes bytes() const override;
  std::optional<BatchCounts> batch_counts() const override { return counts_; }

 private:
  void start_stream(std::int64_t step);
  void count(const StreamedBatch& made);
  std::int64_t growths() const;
  MakeBatch first_fills_cache();
  std::span<const VertexId> owned_rows(std::span<const VertexId> seeds);
  void tell(Work work) const;

  Context& ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: nobody asked for one
  const Model& model_;
  Parameters& parameters_;
  const BatchGraph& graph_;
  const MiniBatchOptions options_;
  LayerRunner runner_;
  SlabInference inference_;
  // Of training:
  BatchPass pass_;
  PassMemory memory_;
  DeviceCopies input_;  // the step's features
  std::unique_ptr<ThreadPool> pool_;
  Workspace workspace_;
  Context sampling_;  // the host's
  std::unique_ptr<Structure> structure_;
  std::optional<Sampler> sampler_;
  std::optional<FeatureStore> features_;
  std::optional<RowShares> shares_;  // where norms reduce over several ranks
  std::optional<Seeds> seeds_;
  std::vector<VertexId> cached_;  // rows to be cached, by degree
  std::vector<VertexId> rows_;
  std::optional<BatchStream> stream_;
  BatchCounts counts_;
  double waited_before_ = 0;           // for batches of streams before this one
  std::int64_t next_ = -1, end_ = -1;  // steps of the stream: the next one, and where it ends
};

}  // namespace atl
