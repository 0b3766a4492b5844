// What a rank that trains on mini-batches holds of the data: features of its parts' rows, or columns of all vertices', and where to draw
// neighbours from.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "partition/part_ranks.h"
#include "sampler/batch_graph.h"
#include "train/part_data.h"

namespace atl {

/// Neither copyable nor movable: graph() views it. The prepared graph outlives it.
class BatchData {
 public:
  BatchData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
            const PartRanks& ranks);
  BatchData(const BatchData&) = delete;

  const BatchGraph& graph() const { return graph_; }
  std::span<const VertexId> owned_ids() const { return owned_ids_; }
  /// rows: own rows that are training vertices, ascending.
  void trains_on(std::span<const VertexId> rows);
  /// Likewise its training edges, with task linkPrediction. The pairs outlive it.
  void trains_on(const PairGraph& pairs);
  /// Fills in how many training vertices each part has. Collective.
  void count(Communicator& comm);

 private:
  void read_columns(const Job& job, const Dataset& dataset, const ColumnShare& share);

  const PreparedGraph& prepared_;
  Rank rank_;
  std::vector<VertexId> owned_ids_;
  PartData::Features features_;
  Matrix columns_;
  BatchGraph graph_;
};

}  // namespace atl
