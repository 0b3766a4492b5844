#include "sampler/transposed_arcs.h"

#include <algorithm>

#include "base/error.h"

namespace atl {

/// Offsets serve as cursors, one place on; with 32 bits, so that more of them are in cache.
void TransposedArcs::make(const CsrView& from, bool places, Recycled<std::uint32_t>& cursors) {
  const Index arcs = from.arcs(), sources = from.cols;
  ATOLL_CHECK(arcs < Index(1) << 32, "{} arcs", arcs);
  const auto begins = offsets.take(sources + 1);
  const auto next = cursors.take(sources);
  std::ranges::fill(next, 0U);
  for (Index e = 0; e < arcs; ++e) ++next[std::size_t(from.columns[e])];
  begins[0] = 0;
  for (std::size_t s = 0; s < std::size_t(sources); ++s) {
    begins[s + 1] = begins[s] + next[s];
    next[s] = std::uint32_t(begins[s]);
  }
  const bool weighted = from.weights != nullptr;
  columns.take(arcs);
  weights.take(weighted ? arcs : 0);
  arc.take(places ? arcs : 0);
  for (Index d = 0; d < from.rows; ++d)
    for (Index e = from.offsets[d]; e < from.offsets[d + 1]; ++e) {
      const Index at = next[std::size_t(from.columns[e])]++;
      columns[at] = VertexId(d);
      if (weighted) weights[at] = from.weights[e];
      if (places) arc[at] = e;
    }
}

CsrView TransposedArcs::view(Index destinations) const {
  return {offsets.size() - 1, destinations, offsets.data(), columns.data(),
          weights.size() > 0 ? weights.data() : nullptr};
}

}  // namespace atl
