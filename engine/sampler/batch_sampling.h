// All that one thread makes a rank's mini-batches with: the structure that it draws from, a sampler, seeds,
// features.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sampler/batch_graph.h"
#include "sampler/batch_stream.h"
#include "sampler/step_sets.h"

namespace atl {

struct BatchSamplingOptions {
  SamplingOptions sampling;
  MakeSets sets = nullptr;  // what is drawn instead of neighbours; null: nothing else
  SetOptions set_options{};
  Index batch_size = 1024;
  int threads = 1;                                // that work on one batch
  bool mapped = false;                            // structure
  bool weighs = false;                            // count on how many ranks each row is computed (RowShares)
  std::optional<FeatureStoreOptions> features{};  // none: features aren't fetched
  std::optional<GroupBatchOptions> columns{};     // which layers are computed by columns; none: none are
  int negatives = 1;                              // pairs per training edge, of link prediction
  bool finds_touched = false;  // tells which features have a value in the rows of a step (TouchedFeatures)
  double feature_rate = 1;     // of others' columns, drawn for each step, unless masks say which
  // other ranks' embeddings that training has; null: none. It outlives what is made
  const HistoryDirectory* history = nullptr;
  BatchMasks* masks = nullptr;  // outlive what is made; null: there are none
  std::int64_t presampled = 0;  // steps whose batches say what a presampled cache holds
  std::vector<int> cpus{};      // that its threads run on; empty: left to the kernel
};

/// Neither copyable nor movable. Made by one thread, then used by another alone.
class BatchSampling {
 public:
  /// Collective. References outlive it.
  BatchSampling(const BatchGraph& graph, Communicator& comm, BatchSamplingOptions options);
  BatchSampling(const BatchSampling&) = delete;

  StepSeeds& seeds() { return sets_ && sets_->seeds() != nullptr ? *sets_->seeds() : seeds_; }
  /// The first batch that is made also fills the cache. Batches follow on what `history` says now. trace:
  /// null where none is kept.
  MakeBatch maker(Trace* trace);

 private:
  std::unique_ptr<StepSets> make_sets();
  void begin();

  const BatchGraph& graph_;
  Communicator& comm_;
  BatchSamplingOptions options_;
  ThreadPool pool_;
  Workspace workspace_;
  Context ctx_;  // the host's
  std::unique_ptr<Structure> structure_;
  std::unique_ptr<Structure> own_rows_;  // what sets read
  std::unique_ptr<StepSets> sets_;       // null: neighbours are drawn
  Sampler sampler_;
  std::optional<FeatureStore> features_;
  std::optional<ColumnPush> columns_;
  std::optional<TouchedFeatures> touched_;
  std::optional<RowShares> shares_;
  std::optional<RandomColumns> random_columns_;
  std::optional<HistoryPushes> history_;
  std::optional<PairEnds> pairs_;  // of link prediction
  Seeds seeds_;
  std::vector<VertexId> cached_;  // rows to be cached
  bool has_begun_ = false;
};

/// The makers of a rank's batches, on options.threads threads. A rank that is alone and draws neighbours
/// exchanges nothing, so each thread makes a batch, at most `ahead` of them at a time; otherwise all threads
/// work on one batch after the other. Collective.
std::vector<std::unique_ptr<BatchSampling>> batch_samplings(const BatchGraph& graph, Communicator& comm,
                                                            const BatchSamplingOptions& options, int ahead);
std::vector<MakeBatch> makers_of(const std::vector<std::unique_ptr<BatchSampling>>& all, Trace* trace);

}  // namespace atl
