// Bytes other than gradients that mini-batches send between ranks, counted from drawn batches.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "comm/ledger.h"
#include "graph/csr.h"
#include "job/job.h"
#include "plan/batch_source.h"
#include "sampler/batch.h"
#include "sampler/column_share.h"
#include "sampler/group_batch.h"
#include "sampler/history/history_directory.h"
#include "sampler/owners.h"
#include "sampler/packed_features.h"
#include "sampler/step_sets.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// Bytes of a rank's cache of other ranks' rows; 0: the strategy has none.
Index cache_bytes(const Job& job);

/// Bytes of a row of features that another rank sends with all its columns.
RowBytes row_bytes_of(const Job& job, const FeatureShape& features);

/// How many bytes each row of features takes in a message, without the request for it. Sparse rows are
/// counted one by one, because vertices that many others read may have more entries than most.
class FeatureMessages {
 public:
  /// The arguments outlive the object. chosen: share of the columns that travels.
  FeatureMessages(const Dataset& dataset, const BatchSource& source, const FeatureShape& features,
                  bool bfloat16, double chosen = 1);
  double bytes(VertexId row) const {
    return entries_ == nullptr ? fixed_
                               : 4 + entry_ * double(entries_->feature_entries(ids_[std::size_t(row)]));
  }

 private:
  const Dataset* entries_;  // null: all rows take the same bytes
  std::span<const VertexId> ids_;
  double fixed_, entry_ = 0;
};

/// Bytes between each pair of ranks in an epoch, and how often they are exchanged. `times`: how many batches
/// of the epoch one counted batch stands for.
class BatchTraffic {
 public:
  /// `source` and `owners` outlive it.
  BatchTraffic(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners,
               const FeatureShape& features);

  /// The requests of `rank` to other ranks when it draws the batch, and their answers (arcs, ids and
  /// degrees).
  struct Asked {
    Normalisation normalisation;
    bool weights;  // arcs come with their weights
  };
  void add_drawing(const Batch& batch, Rank rank, const Asked& asked, double times);
  /// Messages between ranks when they draw a step's sets; `sets` holds the sets drawn last.
  void add_sets(const StepSets& sets, double times);
  /// HistoryPushes' messages, in which ranks announce the embeddings that follow.
  void add_pushes(const PushedRows& leaving, Rank rank, double times);
  /// RowShares' messages.
  void add_shares(const Batch& batch, Rank rank, double times);
  /// ColumnPush's messages for a batch of these sizes; returns their bytes.
  double add_push(const PushedSizes& sizes, const GroupBatchOptions& options, const ColumnShare& share,
                  double times);
  /// Messages by which the rank chooses new columns of other ranks' rows, `times` times an epoch.
  void add_choices(Rank rank, double times);
  /// TouchedFeatures' messages, `times` times an epoch.
  void add_touched(Rank rank, Index features, double times);
  /// Exchanges of features for a batch.
  void add_fetching(const Batch& batch, Rank rank, double times) {
    add_asking(rank, Traffic::kFeatures, batch.rows(), feature_answers_, times);
  }
  /// Features of other ranks' rows; `reads` says how many of the `drawn` batches read each row.
  void add_features(const std::map<VertexId, Index>& reads, Rank rank, std::int64_t drawn, double times);

  /// Bytes of the request for another rank's row of features and of its answer, without a cache.
  double row_bytes(VertexId row) const { return 4 + row_.bytes(row); }

  double sent(Rank from, Rank to, std::size_t purpose) const { return bytes_[index(from, to)][purpose]; }
  /// How often rank 0 exchanges messages in an epoch to make its batches, as a measure for all ranks.
  const std::array<double, kTraffics>& rounds() const { return rounds_; }

  /// A batch's row sets (SharedRows).
  static std::span<const VertexId> row_set(const Batch& batch, int set);

 private:
  void add(Rank from, Rank to, Traffic purpose, double bytes) {
    if (from != to) bytes_[index(from, to)][std::size_t(purpose)] += bytes;
  }
  void add_rounds(Rank rank, Traffic purpose, double rounds) {
    if (rank == 0) rounds_[std::size_t(purpose)] += rounds;
  }
  /// Adds the exchanges in which the rank requests `rows` and their owners answer with `answers` messages
  /// each. A rank that owns all of them takes part in one exchange: it says that it wants no rows.
  void add_asking(Rank rank, Traffic purpose, std::span<const VertexId> rows, int answers, double times);
  std::size_t index(Rank from, Rank to) const {
    return std::size_t(from) * std::size_t(ranks_) + std::size_t(to);
  }

  std::vector<VertexId> cached(Rank rank) const;

  const BatchSource& source_;
  const Owners& owners_;
  int ranks_;
  bool mapped_, weighted_;
  Index fetched_;  // columns that are fetched of other ranks' rows
  FeatureMessages row_;
  Index cached_rows_;
  int feature_answers_;
  std::vector<std::array<double, kTraffics>> bytes_;
  std::array<double, kTraffics> rounds_{};
};

}  // namespace atl
