#include "strategies/schedule/cut_rows.h"

namespace atl {

std::vector<CutRows> cut_rows(const PreparedGraph& prepared, bool induced) {
  const auto offsets = prepared.part_offsets();
  std::vector<CutRows> cut;
  for (Rank to = 0; to < prepared.parts(); ++to) {
    Rank from = 0;
    for (const VertexId row : induced ? prepared.induced_halo(to) : prepared.halo(to)) {
      while (row >= offsets[std::size_t(from) + 1]) ++from;
      if (cut.empty() || cut.back().from != from || cut.back().to != to) cut.push_back({from, to, 0});
      ++cut.back().rows;
    }
  }
  return cut;
}

}  // namespace atl
