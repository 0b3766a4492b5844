// What one rank holds of the data: its part of the graph, features, labels and splits of its owned vertices.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "dataset/dataset.h"
#include "exchange/exchange.h"
#include "job/job.h"
#include "model/model.h"
#include "partition/local_graph.h"

namespace atl {

/// Where `atoll run` and `atoll partition` agree on how a job's graph is prepared.
PartitionOptions partition_options(const Job& job, int parts);
GraphTransforms graph_transforms(const Job& job);
/// (vertices) 1 = training vertex of the job's split.
std::vector<std::uint8_t> training_marks(const Dataset& dataset, const Job& job);

/// A labelled split's owned rows, ascending, and how many there are over all ranks.
struct SplitRows {
  std::vector<VertexId> rows;
  double total = 0;
};

/// Read once at the start. Neither copyable nor movable: blocks and views point into it.
class RankData {
 public:
  /// Opens the data set and its prepared graph, and reads this rank's rows. Throws Error naming what is
  /// missing.
  RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank);
  RankData(const RankData&) = delete;

  const GraphPart& part() const { return full_.part; }
  /// The part that training sees: the induced one with setting: inductive.
  const GraphPart& training_part() const { return training_ ? training_->part : full_.part; }
  bool inductive() const { return training_ != nullptr; }

  Index owned() const { return full_.graph->owned; }
  std::span<const VertexId> owned_ids() const {
    return std::span(full_.graph->ids).first(std::size_t(owned()));
  }
  Index classes() const { return classes_; }
  bool multi_label() const { return multi_label_; }
  const std::int32_t* labels() const { return labels_.data(); }  // (owned)
  View<const std::uint8_t> targets() const { return {targets_.data(), owned(), multi_label_ ? classes_ : 0}; }

  SplitRows train, validation,
      test;  // totals are filled in by the session, which can talk to the other ranks

  /// Drops the raw features where nothing reads them any more (a precomputed first aggregation does).
  void release_features();

 private:
  /// One localized graph with the features of its owned and halo rows.
  struct Part {
    std::unique_ptr<LocalGraph> graph;
    Matrix dense, halo_dense;
    Csr sparse, halo_sparse;
    Transpose sparse_transpose, halo_sparse_transpose;
    SparseRows sparse_rows, halo_sparse_rows;
    GraphPart part;
  };
  void cut(Part& part, const PreparedGraph& prepared, Rank rank, const Job& job, bool induced);
  void read_features(Part& part, const Dataset& dataset, bool normalise);
  void read_labels(const Dataset& dataset);
  void read_splits(const Dataset& dataset, const Job& job);

  Part full_;
  std::unique_ptr<Part> training_;
  Index classes_ = 0;
  bool multi_label_ = false;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint8_t> targets_;
};

}  // namespace atl
