#include "sampler/own_rows.h"

#include <algorithm>
#include <numeric>

namespace atl {
namespace {

constexpr Index kPiece = 4096;

}  // namespace

OwnRow own_row(const DrawnArcs& arcs, std::span<const VertexId> rows, Index i) {
  const auto begin = std::size_t(arcs.offsets[i]), count = std::size_t(arcs.offsets[i + 1]) - begin;
  const auto weights = arcs.weights.span();
  return {rows[std::size_t(i)], arcs.heads[i].degree, arcs.columns.span().subspan(begin, count),
          weights.empty() ? weights : weights.subspan(begin, count)};
}

void for_each_own_row(const SetInput& in, FunctionRef<void(const OwnRow&)> visit) {
  const Index first = in.owners.first_row(in.rank()), end = first + in.owners.rows(in.rank());
  DrawnArcs arcs;
  std::vector<VertexId> rows;
  for (Index begin = first; begin < end; begin += kPiece) {
    rows.resize(std::size_t(std::min(kPiece, end - begin)));
    std::iota(rows.begin(), rows.end(), VertexId(begin));
    in.own_rows.draw({}, rows, arcs);
    for (Index i = 0; i < Index(rows.size()); ++i) visit(own_row(arcs, rows, i));
  }
}

}  // namespace atl
