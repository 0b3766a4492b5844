// A rank's part of a graph with every size and no contents: what a dry run computes on. The arrays that are
// claimed are never touched, so the system backs none of them with memory.
#pragma once

#include <memory>

#include "exchange/exchange.h"
#include "plan/rank_shape.h"

namespace atl {

/// Features of a data set, as far as sizes go.
struct FeatureShape {
  Index columns = 0;
  double nonzeros_per_row = -1;  // −1: dense
  bool sparse() const { return nonzeros_per_row >= 0; }
};

/// Neither copyable nor movable: part() points into it.
class DryPart {
 public:
  /// halo_features: as in PartData.
  DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features);
  DryPart(const DryPart&) = delete;
  const GraphPart& part() const { return part_; }

 private:
  struct Free {
    void operator()(Index* p) const;
  };
  using Offsets = std::unique_ptr<Index[], Free>;
  /// (rows × cols) with `arcs` arcs, all of them in the last row, and no columns.
  CsrView csr(Index rows, Index cols, Index arcs);
  Rows rows(Index count, const FeatureShape& features, Matrix& dense, SparseRows& sparse);

  std::vector<Offsets> offsets_;
  LocalGraph graph_;
  Matrix dense_, halo_dense_;
  SparseRows sparse_, halo_sparse_;
  GraphPart part_;
};

}  // namespace atl
