// Which arcs of a row a layer reads where a step draws vertices and not each row's neighbours, and what each of these arcs stands for.
#pragma once

#include "base/types.h"

namespace atl {

/// Read by several threads at once. A row's self-loops aren't asked for: they are always read, and stand for themselves.
class KeptArcs {
 public:
  virtual ~KeptArcs() = default;
  /// Arcs that this one stands for; 0: it isn't read. place: its place among the row's arcs, in the structure's order.
  virtual float stands_for(VertexId row, VertexId column, Index place) const = 0;
  /// Whether it is read.
  virtual bool keeps(VertexId row, VertexId column, Index place) const {
    return stands_for(row, column, place) != 0;
  }
  /// Whether an arc may stand for anything but itself.
  virtual bool weighs() const = 0;
  /// A row's arcs are scaled together, so that their weights have the sum of all of its arcs.
  virtual bool keeps_sums() const { return false; }
  /// A vertex's degree is that of the arcs that are read, and not the whole graph's.
  virtual bool induces_degrees() const { return false; }
};

}  // namespace atl
