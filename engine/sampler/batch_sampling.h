// Everything that one thread needs to make a rank's mini-batches: the structure to draw from, a sampler,
// seeds, features.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sampler/batch_stream.h"
#include "sampler/column_push.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_graph.h"
#include "sampler/seeds.h"
#include "sampler/step_sets.h"
#include "sampler/structure.h"

namespace atl {

// The data for one rank's mini-batches: arcs to draw from, features of its rows, and the vertices that it
// trains on.

/// The session owns it. Everything that it views outlives it.
struct BatchGraph {
  Owners owners;
  DrawnGraph training, whole;  // differ only with setting: inductive
  Rows features;               // (owned, F), dense or packed; empty if the rank holds `columns` instead
  std::optional<HeldColumns> columns{};
  TrainingRows training_rows;           // of this rank's parts
  std::vector<Index> training_by_part;  // (parts) number of training vertices of each part
  // the pairs of link prediction, where `training_rows` holds numbers of their edges; null: another task
  const PairGraph* pairs = nullptr;
  bool sparse = false;  // a batch's first layer reads packed `features` as sparse rows
  double entries = 0;   // mean number per sparse row of the whole data set
};

struct BatchSamplingOptions {
  SamplingOptions sampling;
  MakeSets sets = nullptr;  // makes the sampler that draws sets of vertices; null: neighbours are drawn
  SetOptions set_options{};
  Index batch_size = 1024;
  int threads = 1;      // number of threads that sample
  bool mapped = false;  // whether the structure is mapped_structure()
  bool weighs = false;  // whether to count the ranks that compute each row (RowShares)
  std::optional<FeatureStoreOptions> features{};  // none: no features are fetched
  std::optional<GroupBatchOptions> columns{};     // layers computed by columns; none: no layer is
  int negatives = 1;                              // negative pairs per training edge
  bool finds_touched = false;  // finds the features that have a value in the rows of a step (TouchedFeatures)
  // share of other ranks' feature columns that a step fetches, drawn at random unless `masks` choose
  double feature_rate = 1;
  // the training thread's directory of historical embeddings; null: none are read. Outlives the maker
  const HistoryDirectory* history = nullptr;
  BatchMasks* masks = nullptr;  // outlive the maker; null: none
  std::int64_t presampled = 0;  // steps whose batches choose the rows of a presampled cache
  std::vector<int> cpus{};      // on which its threads run; empty: the kernel chooses
};

/// Neither copyable nor movable. One thread makes it, then one other thread uses it.
class BatchSampling {
 public:
  /// Collective. References outlive it.
  BatchSampling(const BatchGraph& graph, Communicator& comm, BatchSamplingOptions options);
  BatchSampling(const BatchSampling&) = delete;

  StepSeeds& seeds() { return sets_ && sets_->seeds() != nullptr ? *sets_->seeds() : seeds_; }
  /// The first call of the maker also fills the cache. Batches continue from what `history` holds now.
  /// `trace` may be null.
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
  std::unique_ptr<Structure> own_rows_;  // for sets to read
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
/// exchanges nothing, so each thread makes batches of its own, at most `ahead` at a time. Otherwise all
/// threads work together on one batch after the other. Collective.
std::vector<std::unique_ptr<BatchSampling>> batch_samplings(const BatchGraph& graph, Communicator& comm,
                                                            const BatchSamplingOptions& options, int ahead);
std::vector<MakeBatch> makers_of(const std::vector<std::unique_ptr<BatchSampling>>& all, Trace* trace);

}  // namespace atl
