// One rank's share of the data: its part of the graph, with features, labels and splits of its owned
// vertices.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "job/job.h"
#include "partition/local_graph.h"
#include "sampler/batch_sampling.h"
#include "sampler/pairs/pair_graph.h"
#include "strategies/schedule/schedule.h"
#include "train/part_data.h"
#include "train/server_parts.h"

namespace atl {

// A rank's share of a data set's edge split: the training edges that begin at its vertices, and likewise the
// pairs for validation and test.

class LinkData {
 public:
  /// Without an edge split there are no pairs. `parts`: which part each rank has, for a strategy with one
  /// part per rank; `batches`: each rank has consecutive parts. All arguments must outlive it.
  LinkData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& parts, bool batches);
  LinkData(const LinkData&) = delete;

  const PairGraph& graph() const { return graph_; }
  /// Edges and their negative pairs.
  struct Measured {
    StepPairs pairs;                  // own ones
    Index most = 0;                   // pairs of the rank that has most
    double edges = 0, negatives = 0;  // over all ranks
  };
  const Measured& validation() const { return validation_; }
  const Measured& test() const { return test_; }
  /// Number of pairs that an epoch trains on, over all ranks.
  double training_pairs() const { return double(graph_.all_edges()) * (1 + negatives_); }

 private:
  void read(const Dataset& dataset, PairSet edges, PairSet negatives, Measured& into) const;

  int negatives_;
  PairGraph graph_;
  Measured validation_, test_;
};

// The data of a rank that trains on mini-batches: features of its parts' rows, or columns of all vertices'
// features, and the graph from which neighbours are drawn.

/// Neither copyable nor movable, because graph() views it. The prepared graph must outlive it.
class BatchData {
 public:
  /// form: in which the model reads features.
  BatchData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
            const PartRanks& ranks, FeatureForm form);
  BatchData(const BatchData&) = delete;

  const BatchGraph& graph() const { return graph_; }
  std::span<const VertexId> owned_ids() const { return owned_ids_; }
  /// Sets which own rows are training vertices, ascending.
  void trains_on(std::span<const VertexId> rows);
  /// Sets its training edges, with task linkPrediction. The pairs must outlive it.
  void trains_on(const PairGraph& pairs);
  /// Fills in the number of training vertices of each part. Collective.
  void count(Communicator& comm);
  /// Drops the features, where batches read what was computed from them once.
  void release_features();

 private:
  void read_columns(const Job& job, const Dataset& dataset, const ColumnShare& share, FeatureForm held);

  const PreparedGraph& prepared_;
  Rank rank_;
  bool reads_neighbours_;
  std::vector<VertexId> owned_ids_;
  PartData::Features features_;  // of own rows, or of all vertices' columns here
  BatchGraph graph_;
};

/// How a job's graph is prepared, for `atoll run` and `atoll partition` alike: into `ranks` parts, unless the
/// job asks for more.
PartitionOptions partition_options(const Job& job, int ranks);
GraphTransforms graph_transforms(const Job& job);

/// A split's labelled rows of part(), ascending, and their number over all ranks.
struct SplitRows {
  std::vector<VertexId> rows;
  std::span<const VertexId> placed;  // the same, as kernels read them (RankData::place)
  double total = 0;
};

/// Read once at the start. Neither copyable nor movable, because blocks and views point into it.
class RankData {
 public:
  /// Reads the rows of this rank's part, for training. Throws Error naming what is missing.
  RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& ranks = {});
  /// For a model that wasn't made for this data set.
  RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& ranks, const DataUse& use);
  RankData(const RankData&) = delete;

  /// Fills in what only all ranks know together: the splits' totals and the number of vertices of the
  /// training graph. Call before training or evaluation. Collective.
  void count(Communicator& comm);
  /// Whether training sees another graph in step `batch` (from 0) of `epoch` than in the step before. Some
  /// strategies draw what servers hold, or train it in batches (DataShare::server).
  bool is_other_in(Index epoch, int batch) const { return shares_ && shares_->is_other(epoch, batch); }
  /// Takes that graph instead of the one before. cpus: as in ServerParts::take.
  void take(Context& ctx, Index epoch, int batch, const std::vector<int>& cpus);
  /// How long training waited for the graphs that it sees; none: it never has to.
  std::optional<double> waited_seconds() const {
    if (!shares_ || !shares_->are_many()) return std::nullopt;
    return shares_->waited_seconds();
  }
  /// Copies what kernels read to ctx's device. Call before training or evaluation; on the host, or when
  /// called again, it does nothing.
  void place(Context& ctx);

  const PartRanks& ranks() const { return share_.ranks; }
  const GraphPart& part() const { return full_ ? full_->part() : no_part_; }
  /// The part that training sees: with setting: inductive, the training vertices only.
  const GraphPart& training_part() const { return training_ ? training_->data->part() : part(); }
  /// What schedules run on in training. held(): what they run on over the whole graph.
  Holding held_in_training() const {
    return batches_ ? Holding(batches_->graph()) : Holding(training_part());
  }
  Holding held() const { return batches_ ? Holding(batches_->graph()) : Holding(part()); }
  /// Whether training sees another graph than inference.
  bool has_training_part() const { return training_ != nullptr; }
  double vertices() const { return vertices_; }  // number in the whole graph
  /// How many vertices the graph that training sees has over all ranks, and how many of them the loss counts.
  double training_vertices() const { return of_batch(seen_); }
  double loss_vertices() const { return counted_.empty() ? train.total : of_batch(counted_); }

  /// Ids of the rows whose labels and logits this rank has.
  std::span<const VertexId> owned_ids() const { return owned_ids_; }
  Index owned() const { return Index(owned_ids_.size()); }
  const FeatureShape& features() const { return features_; }
  Index classes() const { return classes_; }
  bool multi_label() const { return labels_.columns > 0; }
  const Labels& labels() const { return labels_; }  // of part()'s rows
  /// The same, as kernels read them.
  const LabelView& label_view() const { return label_view_; }
  /// As kernels read them: the labels of training_part()'s rows, and the rows that count in the loss,
  /// ascending.
  const LabelView& training_labels() const { return training_ ? training_->label_view : label_view_; }
  std::span<const VertexId> training_rows() const {
    return training_ ? training_->placed_rows : train.placed;
  }
  /// The same in the host's memory.
  std::span<const VertexId> training_rows_here() const { return training_ ? training_->rows : train.rows; }

  SplitRows train, validation, test;

  /// The edge split's pairs, with task linkPrediction; null: the job is about vertices.
  const LinkData* links() const { return links_.get(); }

  /// Drops the raw features where nothing reads them any more, because a first aggregation was computed from
  /// them.
  void release_features();

 private:
  void view();
  void read_training_part(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const DataUse& use, bool halo_features);
  void read_splits(const Dataset& dataset, const Job& job, bool by_split);
  void count_batches(Communicator& comm);
  double of_batch(const std::vector<double>& totals) const {
    return totals.empty() ? 0 : totals[totals.size() == 1 ? 0 : std::size_t(shares_->batch())];
  }

  DataShare share_;
  std::unique_ptr<PartData> full_;
  std::unique_ptr<LinkData> links_;
  std::unique_ptr<BatchData> batches_;
  const GraphPart no_part_{};
  std::span<const VertexId> owned_ids_;
  FeatureShape features_;
  std::unique_ptr<TrainingPart> training_;  // null: training sees part()
  std::unique_ptr<ServerParts> shares_;     // make training_; null: there is only one
  Index classes_;
  double vertices_;
  // By batch, what training_vertices() and loss_vertices() return. Without batches, seen_ has one entry, and
  // counted_ has none.
  std::vector<double> seen_, counted_;
  Labels labels_;
  std::optional<DeviceCopies> copies_;  // set by place() on another device than the host
  LabelView label_view_;
};

}  // namespace atl
