// Arcs between vertices that were drawn one by one, or as the two ends of arcs: what each stands for follows from the probabilities of
// its ends, which every rank knows of all that were drawn.
#pragma once

#include "base/error.h"
#include "graph/row_table.h"
#include "sampler/kept_arcs.h"
#include "sampler/saint.h"

namespace atl {

class PairArcs final : public KeptArcs {
 public:
  struct End {
    double probability = 0;  // that one draw has the vertex
    double along = 0;        // that one draw takes a given arc from it; 0: vertices are drawn one by one
  };
  /// draws: of a step, independent.
  PairArcs(Index draws, bool weighs) : draws_(draws), weighs_(weighs) { table_.clear(); }

  void clear() {
    table_.clear();
    rows_.take(0), ends_.take(0);
  }
  void add(VertexId row, const End& end) {
    const auto next = VertexId(rows_.size());
    ATOLL_CHECK(table_.find_or_add(row, next) == next, "row {} is in the set twice", row);
    rows_.push(row), ends_.push(end);
  }
  std::span<const VertexId> rows() const { return rows_.span(); }
  const End* find(VertexId row) const {
    const VertexId at = table_.find(row);
    return at < 0 ? nullptr : &ends_[at];
  }
  Index growths() const { return table_.growths() + rows_.growths() + ends_.growths(); }

  bool keeps(VertexId, VertexId column, Index) const override { return table_.find(column) >= 0; }
  float stands_for(VertexId row, VertexId column, Index) const override {
    const End* const source = find(column);
    if (source == nullptr) return 0;
    if (!weighs_) return 1;
    const End* const destination = find(row);
    ATOLL_CHECK(destination != nullptr, "row {} is read and not in the set", row);
    const double p = destination->probability, together = destination->along + source->along;
    return float(presence_of(p, draws_) / presence_of_both(p, source->probability, together, draws_));
  }
  bool weighs() const override { return weighs_; }

 private:
  const Index draws_;
  const bool weighs_;
  RowTable table_;
  Recycled<VertexId> rows_;  // in the order in which they were added
  Recycled<End> ends_;       // likewise
};

}  // namespace atl
