// A rank's part of a graph with every size and no contents: what a dry run computes on. Its arrays are on Device::kDry,
// but for the ids of rows, which strategies draw from.
#pragma once

#include <deque>
#include <memory>

#include "strategies/exchange/exchange.h"
#include "plan/rank_shape.h"
#include "train/part_data.h"

namespace atl {

/// Neither copyable nor movable: part() points into it.
class DryPart {
 public:
  /// halo_features: as in PartData.
  DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features);
  DryPart(const DryPart&) = delete;
  const GraphPart& part() const { return part_; }

 private:
  using Offsets = std::unique_ptr<Index[], ReleaseMemory>;
  /// (rows × cols) with `arcs` arcs, all of them in the last row, and no columns.
  CsrView csr(Index rows, Index cols, Index arcs);
  /// Features of some rows.
  struct Features {
    Matrix dense;
    SparseRows sparse;
    BitRows bits;
  };
  Rows rows(Index count, const FeatureShape& shape, Features& features);
  void cut_chunks(const RankShape& shape);
  void cut_near(const RankShape& shape);
  void read_by_owner(const RankShape& shape, const FeatureShape& features, bool halo_features);

  std::vector<Offsets> offsets_;
  LocalGraph graph_;
  Features features_, halo_features_, computed_features_;
  std::vector<Real> row_weights_;
  std::vector<Index> owned_by_rank_;
  std::vector<std::vector<VertexId>> chunk_reads_;  // by chunk …
  std::vector<ChunkRun> chunk_runs_;                // … and one run of them each
  std::deque<std::vector<PeerRows>> near_peers_;
  std::vector<VertexId> owners_ids_;                // of the blocks' destinations
  std::vector<std::vector<VertexId>> owners_rows_;  // by block
  std::deque<Features> owners_features_;
  GraphPart part_;
};

}  // namespace atl
