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

// Historical embeddings in a plan (sampler/history/): the rows that ranks keep, and the pushes of their
// batches. Pushes don't change which rows a batch computes, so all ranks' pushes are known before a rank goes
// through its steps.

class PlannedHistory {
 public:
  /// Both arguments outlive it.
  PlannedHistory(const BatchSource& source, const Owners& owners, const HistoryOptions& options);

  const HistoryOptions& options() const { return options_; }
  const HistoryRows& rows(Rank rank) const { return *rows_[std::size_t(rank)]; }
  /// Notes a rank's batches, one step after the other.
  void note(Rank rank, const Batch& batch);
  /// Gives the pushes that a batch sends and receives, once all ranks' batches are noted. step: from 0.
  void pushes(Rank rank, std::int64_t step, const Batch& batch, StepPushes& into);

 private:
  /// What one rank's batch pushes to each keeper.
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

/// What the batches of all ranks share. A member is null where the job has none.
struct SharedInPlan {
  StepSets* sets = nullptr;
  PlannedHistory* history = nullptr;
  // (drawn batches) the features that all ranks together touch (TouchedFeatures)
  const std::vector<std::vector<VertexId>>* touched = nullptr;
};

/// Neither copyable nor movable. References outlive it, as do the members of `shared`, and `notes`, which may
/// be null.
class RankBatches {
 public:
  RankBatches(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners,
              Rank rank, const std::vector<std::string>& hosts, int threads, const SharedInPlan& shared,
              DryNotes* notes = nullptr);
  RankBatches(const RankBatches&) = delete;

  /// nullopt: features are held by rows.
  const std::optional<ColumnShare>& columns() const { return columns_; }
  /// DryColumns::bytes_by_rows over the drawn batches.
  double bytes_by_rows(const BatchTraffic& sent) const {
    return by_columns_->bytes_by_rows(reads_, owners_, sent);
  }
  /// The other ranks' rows that batches have read, with the number of batches that read each.
  const std::map<VertexId, Index>& reads() const { return reads_; }

  /// Sizes of the batch that the rank tells the ranks with the other columns.
  std::vector<std::int64_t> pushed(std::int64_t draw, std::span<const VertexId> seeds);
  /// Draws a batch and notes its pushes of historical embeddings.
  void note_pushes(std::int64_t draw, std::span<const VertexId> seeds);
  /// Draws a batch, and marks the features that have a value in any of its rows.
  void note_touched(std::int64_t draw, std::span<const VertexId> seeds, std::vector<std::uint8_t>& marks);
  /// Draws a batch, and adds what drawing it sends.
  void draw(std::int64_t draw, std::span<const VertexId> seeds, BatchTraffic& sent, double times);
  /// Trains on the batch that was drawn last. `drawn`: by member of the group, where features are held by
  /// columns. Memory that a run reserves above its largest batch isn't counted, because nothing is ever
  /// written there.
  void train(std::int64_t step, const std::vector<const DrawnSizes*>& drawn, double times);
  /// Sums the loss over ranks, as EpochLoop does after each step except an epoch's last. The same message
  /// carries the other figures that ranks then exchange.
  void sum_loss();
  /// Adds what the trained batches took.
  void count(double times, DryBatches& out);

 private:
  /// The layers that a batch's pass computes.
  LayerRange layers() const { return {once_ ? model_.constant_prefix() : 0, int(model_.layers.size())}; }
  Index columns_of_batch() const { return model_.spec(layers().first).in; }
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
  FeatureShape features_, of_batch_;  // with all columns, of the data set and of the last drawn batch
  FeatureMessages feature_messages_;
  std::optional<ColumnShare> columns_;  // none: features are held by rows
  Model model_;
  ModelShare share_;
  bool counts_rows_, recompute_, once_;  // once_: batches read no neighbours
  std::unique_ptr<ThreadPool> dry_pool_;
  Workspace workspace_{Device::kDry};
  Context ctx_;
  Trace* trace_ = nullptr;  // null: nobody observes
  Communicator comm_;
  Parameters parameters_;
  DryStep step_;
  ThreadPool pool_{1};
  std::unique_ptr<Structure> structure_;
  StepSets* sets_;                                     // null: the sampler draws no sets
  const std::vector<std::vector<VertexId>>* touched_;  // null: ranks don't report touched features
  PlannedHistory* pushed_embeddings_;                  // null: no embeddings are kept
  std::optional<HistoryDirectory> known_;              // the kept embeddings that a rank knows when it draws
  Sampler sampler_;
  BatchPass pass_;
  PassMemory memory_;
  LayerRunner runner_;
  std::optional<EmbeddingHistory> history_;
  std::unique_ptr<DryColumns> by_columns_;  // null: features are held by rows
  StreamedBatch made_;
  DryFeatures dry_features_;
  std::vector<LayerSize> sizes_;
  Index inputs_ = 0;
  double most_others_ = 0,
         most_entries_ = 0;  // largest of any batch: bytes of other ranks' rows; mean entries per row
  double whole_rows_ = 0, pushed_ = 0, drawn_arcs_ = 0, looked_at_ = 0, read_rows_ = 0;
  std::map<VertexId, Index> reads_;
};

}  // namespace atl
