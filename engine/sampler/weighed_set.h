// A set of vertices that a layer may read, each with what its arcs stand for.
#pragma once

#include "base/error.h"
#include "graph/row_table.h"
#include "sampler/kept_arcs.h"

namespace atl {

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
  /// Each row once; factor above 0.
  void add(VertexId row, float factor) {
    const auto next = VertexId(factors_.size());
    ATOLL_CHECK(table_.find_or_add(row, next) == next, "row {} is in the set twice", row);
    factors_.push(factor);
  }
  bool has(VertexId row) const { return table_.find(row) >= 0; }
  Index growths() const { return table_.growths() + factors_.growths(); }

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
  Recycled<float> factors_;  // in the order in which they were added
};

}  // namespace atl
