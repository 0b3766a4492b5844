// One rank's mini-batches in a plan: drawn as in training, then gone through on kernels that compute nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/batch_traffic.h"
#include "plan/dry_batches.h"
#include "plan/dry_columns.h"
#include "plan/dry_step.h"
#include "sampler/history/history_pushes.h"
#include "strategies/schedule/batch_pass.h"
#include "strategies/schedule/embedding_history.h"

namespace atl {

// Historical embeddings in a plan (sampler/history/): which rows ranks keep, and what their batches push to
// each other. Which rows a batch computes depends on nothing that is pushed, so that all ranks' pushes are
// known before one goes through its steps.

class PlannedHistory {
 public:
  /// Both outlive it.
  PlannedHistory(const BatchSource& source, const Owners& owners, const HistoryOptions& options);

  const HistoryOptions& options() const { return options_; }
  const HistoryRows& rows(Rank rank) const { return *rows_[std::size_t(rank)]; }
  /// A rank's batches, one step after the other.
  void note(Rank rank, const Batch& batch);
  /// What a batch pushes and gets, once all ranks' have been noted. step: from 0.
  void pushes(Rank rank, std::int64_t step, const Batch& batch, StepPushes& into);

 private:
  /// Of one rank's batch: what its keepers get.
  struct Noted {
    std::vector<VertexId> places;  // by keeper
    std::vector<Index> begins, counts;
  };
  HistoryOptions options_;
  std::vector<std::unique_ptr<HistoryRows>> rows_;  // by rank
  std::vector<std::vector<Noted>> noted_;           // by rank and step
  PushedRows leaving_;
  Reusable<VertexId> places_;
};

/// What all ranks' batches have in common, each null where there is none.
struct SharedInPlan {
  StepSets* sets = nullptr;
  PlannedHistory* history = nullptr;
  // by batch that is drawn: TouchedFeatures' of all ranks
  const std::vector<std::vector<VertexId>>* touched = nullptr;
};

/// Neither copyable nor movable. References outlive it, and so do `shared`'s and `notes`, which may be null.
class RankBatches {
 public:
  RankBatches(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners,
              Rank rank, const std::vector<std::string>& hosts, int threads, const SharedInPlan& shared,
              DryNotes* notes = nullptr);
  RankBatches(const RankBatches&) = delete;

  /// None: features are held by rows.
  const std::optional<ColumnShare>& columns() const { return columns_; }
  /// DryColumns::bytes_by_rows, of the batches that were drawn.
  double bytes_by_rows(const BatchTraffic& sent) const {
    return by_columns_->bytes_by_rows(reads_, owners_, sent);
  }
  /// Others' rows, by how many batches have read them.
  const std::map<VertexId, Index>& reads() const { return reads_; }

  /// What the rank pushes of a batch to those that have the other columns.
  std::vector<std::int64_t> pushed(std::int64_t draw, std::span<const VertexId> seeds);
  /// Draws a batch, for what it pushes of historical embeddings.
  void note_pushes(std::int64_t draw, std::span<const VertexId> seeds);
  /// Draws a batch, and marks the features that have a value in its rows.
  void note_touched(std::int64_t draw, std::span<const VertexId> seeds, std::vector<std::uint8_t>& marks);
  /// Draws a batch, and adds what that sends.
  void draw(std::int64_t draw, std::span<const VertexId> seeds, BatchTraffic& sent, double times);
  /// The batch that was drawn last; `drawn` are those of its group, by member, where features are held by
  /// columns. The room that a run's memory has above its largest batch isn't counted: nothing is ever written
  /// there.
  void train(std::int64_t step, const std::vector<const DrawnSizes*>& drawn, double times);
  /// Over ranks, after each step but an epoch's last (EpochLoop): with what else they tell each other then.
  void sum_loss();
  /// What the batches that were trained took.
  void count(double times, DryBatches& out);

 private:
  /// Of a batch's pass.
  LayerRange layers() const { return {once_ ? model_.constant_prefix() : 0, int(model_.layers.size())}; }
  Index columns_of_batch() const { return model_.spec(layers().first).in; }
  int in_flight() const;
  Index columns_here() const { return columns_ ? columns_->count() : features_.columns; }
  std::vector<LayerSize> sizes_of_pass() const;
  void add_sizes(double times, const std::vector<LayerSize>& sizes);
  void share_rows();
  void set_entries(double bytes, double rows);
  void add_own(double times, DryRun& run) const;

  const Job& job_;
  const Dataset& dataset_;
  const BatchSource& source_;
  const Owners& owners_;
  Rank rank_;
  FeatureShape features_, of_batch_;  // of all columns: of the data set, and of the batch that was drawn last
  CrossingRows crossing_;
  std::optional<ColumnShare> columns_;  // none: features are held by rows
  Model model_;
  bool counts_rows_, recompute_, once_;  // once_: batches read no neighbours
  std::unique_ptr<ThreadPool> dry_pool_;
  Workspace workspace_{Device::kDry};
  Context ctx_;
  Trace* trace_ = nullptr;  // null: nobody notes
  Communicator comm_;
  Parameters parameters_;
  DryStep step_;
  ThreadPool pool_{1};
  std::unique_ptr<Structure> structure_;
  StepSets* sets_;                                     // null: there are none
  const std::vector<std::vector<VertexId>>* touched_;  // null: nobody finds out
  PlannedHistory* pushed_embeddings_;                  // null: nothing is kept of them …
  std::optional<HistoryDirectory> known_;              // … of which this is known when a batch is drawn
  Sampler sampler_;
  BatchPass pass_;
  PassMemory memory_;
  LayerRunner runner_;
  std::optional<EmbeddingHistory> history_;
  std::unique_ptr<DryColumns> by_columns_;  // null: by rows
  StreamedBatch made_;
  DryFeatures dry_features_;
  std::vector<LayerSize> sizes_;
  Index inputs_ = 0;
  double most_others_ = 0,
         most_entries_ = 0;  // bytes of others' rows, and entries of a row on average, of any batch
  double whole_rows_ = 0, pushed_ = 0, drawn_arcs_ = 0, read_rows_ = 0;
  std::map<VertexId, Index> reads_;
};

}  // namespace atl
