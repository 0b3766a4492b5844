#include "sampler/history/history_leaves.h"

#include <utility>

namespace atl {

void HistoryCut::cut(const HistoryDirectory& known, int layer, const HopDraw& hop,
                     std::span<const VertexId> rows, DrawnArcs& arcs, Leaves& leaves) {
  numbers_.clear();
  factors_.take(Index(rows.size()));
  const bool weighted = arcs.weights.size() > 0;
  Index to = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index begin = std::exchange(arcs.offsets[Index(i)], to), end = arcs.offsets[Index(i) + 1];
    Index loops = 0;
    for (Index e = begin; e < end; ++e) {
      VertexId column = arcs.columns[e];
      if (column == rows[i]) ++loops;
      if (!known.rows().owns(column)) {
        const VertexId slot = known.find(layer, column);
        if (slot < 0) continue;
        const auto next = VertexId(leaves.size()), number = numbers_.find_or_add(slot, next);
        if (number == next) leaves.rows.push(column), leaves.slots.push(slot);
        column = -1 - number;
      }
      arcs.columns[to] = column;
      if (weighted) arcs.weights[to] = arcs.weights[e];
      ++to;
    }
    const RowHead& head = arcs.heads[Index(i)];
    const Index left = to - arcs.offsets[Index(i)] - loops;
    const Index all = Index(head.loops) + Index(head.others) - loops;
    const bool complete = to - arcs.offsets[Index(i)] == end - begin;
    factors_[Index(i)] = complete || left == 0 ? head.stands_for(hop) : float(double(all) / double(left));
  }
  arcs.offsets[Index(rows.size())] = to;
  arcs.columns.extend(to);
  if (weighted) arcs.weights.extend(to);
}

}  // namespace atl
