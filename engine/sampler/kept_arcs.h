// Some samplers draw vertices for a whole step, not neighbours for each row. KeptArcs then says which arcs of
// a row a layer reads, and for how many arcs each of them stands.
#pragma once

#include "base/error.h"
#include "base/types.h"
#include "graph/row_table.h"

namespace atl {

/// Several threads read it at once. It isn't asked about self-loops, which are always read and stand for
/// themselves.
class KeptArcs {
 public:
  virtual ~KeptArcs() = default;
  /// How many arcs this one stands for; 0: it isn't read. `place`: its place among the row's arcs, in the
  /// structure's order.
  virtual float stands_for(VertexId row, VertexId column, Index place) const = 0;
  /// Whether the arc is read.
  virtual bool keeps(VertexId row, VertexId column, Index place) const {
    return stands_for(row, column, place) != 0;
  }
  /// Whether an arc may stand for anything but itself.
  virtual bool weighs() const = 0;
  /// Whether a row's arcs are scaled together, so that their weights add up to those of all its arcs.
  virtual bool keeps_sums() const { return false; }
  /// Whether a vertex's degree counts only the arcs that are read, and not the whole graph's.
  virtual bool induces_degrees() const { return false; }
};

// A set of vertices that a layer may read, with the number that each one's arcs stand for.

class WeighedSet final : public KeptArcs {
 public:
  struct Options {
    bool weighs = true;  // false: arcs of the set stand for themselves
    bool keeps_sums = false;
  };
  explicit WeighedSet(const Options& options) : options_(options) { table_.clear(); }

  void clear() {
    table_.clear();
    factors_.take(0);
  }
  /// Each row may be added once; `factor` is above 0.
  void add(VertexId row, float factor) {
    const auto next = VertexId(factors_.size());
    ATOLL_CHECK(table_.find_or_add(row, next) == next, "row {} is in the set twice", row);
    factors_.push(factor);
  }
  bool has(VertexId row) const { return table_.find(row) >= 0; }
  Index reallocations() const { return table_.reallocations() + factors_.reallocations(); }

  bool keeps(VertexId, VertexId column, Index) const override { return has(column); }
  float stands_for(VertexId, VertexId column, Index) const override {
    const VertexId at = table_.find(column);
    if (at < 0) return 0;
    return options_.weighs ? factors_[at] : 1;
  }
  bool weighs() const override { return options_.weighs; }
  bool keeps_sums() const override { return options_.keeps_sums; }

 private:
  const Options options_;
  RowTable table_;
  Reusable<float> factors_;  // in the order of add()
};

}  // namespace atl
