// What one rank holds of the data: its part of the graph, features, labels and splits of its owned vertices.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "strategy/schedule.h"
#include "train/batch_data.h"
#include "train/part_data.h"

namespace atl {

/// Where `atoll run` and `atoll partition` agree on how a job's graph is prepared: for so many ranks, unless the job asks for more
/// parts.
PartitionOptions partition_options(const Job& job, int ranks);
GraphTransforms graph_transforms(const Job& job);
/// (vertices) 1 = training vertex of the job's split.
std::vector<std::uint8_t> training_marks(const Dataset& dataset, const Job& job);

/// How a data set is taken: as it is, for training; as far as it fits a model that is there, for predictions.
struct DataUse {
  Index classes = 0;                       // of the model
  FeatureForm form = FeatureForm::kDense;  // in which the model reads features
  bool known = true;                       // false: as if no vertex had a label
  bool by_split = true;                    // false: by no split; every labelled vertex is a test vertex
  bool trains = true;                      // false: it is for inference alone
};

/// Labels of some rows as kernels read them: one of the two.
struct LabelView {
  const std::int32_t* classes = nullptr;  // (rows)
  View<const std::uint8_t> targets = {};  // (rows, labels)
  LabelView slice(Index first, Index count) const {
    return {classes == nullptr ? nullptr : classes + first,
            targets.cols == 0 ? targets : targets.slice_rows(first, count)};
  }
};

/// Of a part's owned rows: one class each, −1 = unlabelled, or, multi-label, targets of 0 and 1.
struct Labels {
  std::vector<std::int32_t> classes;  // (rows); empty: multi-label
  std::vector<std::uint8_t> targets;  // (rows, columns); empty: not multi-label, or all unlabelled
  Index columns = 0;                  // 0: one class each
  View<const std::uint8_t> target_rows() const {
    return {targets.data(), columns > 0 ? Index(targets.size()) / columns : 0, columns};
  }
  LabelView view() const { return {classes.empty() ? nullptr : classes.data(), target_rows()}; }
};
/// Of so many rows.
LabelView on_device(DeviceCopies& copies, const LabelView& host, Index rows);

/// A labelled split's rows of part(), ascending, and how many there are over all ranks.
struct SplitRows {
  std::vector<VertexId> rows;
  std::span<const VertexId> placed;  // the same, as kernels read them (RankData::place)
  double total = 0;
};

/// Read once at the start. Neither copyable nor movable: blocks and views point into it.
class RankData {
 public:
  /// Reads the rows of this rank's part, for training. Throws Error naming what is missing.
  RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& ranks = {});
  /// For a model that isn't this data set's own.
  RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const PartRanks& ranks, const DataUse& use);
  RankData(const RankData&) = delete;

  /// Fills in what only all ranks together know: the splits' totals and the training graph's vertices. Call before
  /// training or evaluation. Collective.
  void count(Communicator& comm);
  /// Whether training sees another graph in `epoch` than in the one before: some strategies draw what servers hold (Strategy::server).
  bool draws_in(Index epoch) const { return redrawn_ && redrawn_->epoch != epoch; }
  /// Then takes it in place of that one. Reads the data set and the prepared graph again.
  void draw(Context& ctx, Index epoch);
  /// Puts what kernels read where those of ctx's device can. Before training or evaluation; on the host, and again, it does nothing.
  void place(Context& ctx);

  const PartRanks& ranks() const { return share_.ranks; }
  const GraphPart& part() const { return full_ ? full_->part() : no_part_; }
  /// The part that training sees: with setting: inductive, the training vertices alone.
  const GraphPart& training_part() const { return training_ ? training_->part() : part(); }
  /// What schedules run on: in training, and over the whole graph.
  Holding held_in_training() const {
    return batches_ ? Holding(batches_->graph()) : Holding(training_part());
  }
  Holding held() const { return batches_ ? Holding(batches_->graph()) : Holding(part()); }
  /// Whether training sees another graph than inference.
  bool has_training_part() const { return training_ != nullptr; }
  double vertices() const { return vertices_; }                    // of the whole graph
  double training_vertices() const { return training_vertices_; }  // of the graph that training sees

  /// Of the rows whose labels and logits this rank has.
  std::span<const VertexId> owned_ids() const { return owned_ids_; }
  Index owned() const { return Index(owned_ids_.size()); }
  const FeatureShape& features() const { return features_; }
  Index classes() const { return classes_; }
  bool multi_label() const { return labels_.columns > 0; }
  const Labels& labels() const { return labels_; }  // of part()'s rows
  /// The same, as kernels read them.
  const LabelView& label_view() const { return label_view_; }
  /// Of training_part()'s rows, and which of them take part in the loss, ascending; as kernels read them.
  const LabelView& training_labels() const { return training_ ? training_label_view_ : label_view_; }
  std::span<const VertexId> training_rows() const { return training_ ? placed_training_rows_ : train.placed; }
  /// The same in the host's memory.
  std::span<const VertexId> training_rows_here() const { return training_ ? training_rows_ : train.rows; }

  SplitRows train, validation, test;

  /// Drops the raw features where nothing reads them any more (a precomputed first aggregation does).
  void release_features();

 private:
  void view();
  void read_training_part(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const DataUse& use, bool halo_features);
  void read_server_part(Index epoch);
  void read_splits(const Dataset& dataset, const Job& job, bool by_split);

  /// Where each epoch may have its own part of a server's graph, what that is read from; all outlive this.
  struct Redrawn {
    const Job& job;
    const Dataset& dataset;
    const PreparedGraph& prepared;
    DataUse use;
    bool halo_features;
    Rank rank;
    Index epoch = 0;  // that training_ is of
  };

  PartShare share_;
  std::optional<Redrawn> redrawn_;
  std::unique_ptr<PartData> full_;
  std::unique_ptr<BatchData> batches_;
  const GraphPart no_part_{};
  std::span<const VertexId> owned_ids_;
  FeatureShape features_;
  std::unique_ptr<PartData> training_;
  Index classes_;
  double vertices_, training_vertices_ = 0;
  Labels labels_, training_labels_;      // the second: inductive alone
  std::vector<VertexId> training_rows_;  // likewise
  std::optional<DeviceCopies> copies_;   // after place() on another device than the host
  LabelView label_view_, training_label_view_;
  std::span<const VertexId> placed_training_rows_;
};

}  // namespace atl
