// The explanation graph of a rank (DGS, Wan et al. 2022, section III-B): a star. Its centre, row 0, stands for all vertices of the rank, the other
// rows are the vertices of other ranks that these read. The centre reads itself and all of them; each of them reads the centre, and
// itself where the model wants self-loops.
//
// What is asked is which of the others the centre needs, so the arcs to the centre are a block of their own, the masked one.
#pragma once

#include <vector>

#include "model/model.h"

namespace atl {

class StarGraph {
 public:
  /// ids (remote): the data set's, of the others.
  StarGraph(std::span<const VertexId> ids, const GraphNeeds& needs);
  StarGraph(const StarGraph&) = delete;

  Index others() const { return others_; }
  Index rows() const { return 1 + others_; }
  std::span<const VertexId> ids() const { return ids_; }  // (rows); the centre's is 0
  /// Arcs among all rows but the masked ones, and those: (rows or 1 × rows) and (rows or 1 × others). `last`: to the centre alone. Views.
  Block unmasked(bool last) const;
  Block masked(bool last) const;
  Index bytes() const;

 private:
  struct Arcs {
    std::vector<Index> offsets, back_offsets, back_place;
    std::vector<VertexId> columns, back_columns;
  };
  Block block(const Arcs& arcs, bool last, Index first_source) const;

  Index others_;
  Arcs inner_, last_, masked_;
  std::vector<Real> dst_scale_, src_scale_;  // (rows) or empty: 1
  std::vector<VertexId> ids_;
};

}  // namespace atl
