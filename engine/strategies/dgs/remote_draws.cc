#include "strategies/dgs/remote_draws.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "sampler/structure.h"

namespace atl {
namespace {

/// The separate purposes of one row's draws.
enum Draw : std::uint64_t { kHowMany = 1, kOwn, kOthers };

std::uint64_t key_of(std::uint64_t row_key, Draw draw) {
  return mix64(row_key ^ (std::uint64_t(draw) << 60));
}

/// A number in (0, 1).
double uniform(std::uint64_t key, std::uint64_t i) {
  return (double(mix64(key + i * 0x9e3779b97f4a7c15ull) >> 12) + 0.5) * 0x1.0p-52;
}

}  // namespace

RemoteArcs::RemoteArcs(const DrawnGraph& graph, const Owners& owners, Rank rank)
    : first_row_(owners.first_row(rank)), offsets_{0} {
  // If all neighbours are read, no positions are drawn.
  const CsrView& rows = graph.by_id.rows.columns != nullptr ? graph.by_id.rows : graph.whole;
  offsets_.reserve(std::size_t(owners.rows(rank)) + 1);
  for (Index row = first_row_; row < owners.first_row(rank + 1); ++row) {
    Index begin = rows.offsets[row];
    while (begin < rows.offsets[row + 1] && rows.columns[begin] == row) ++begin;
    for (Index e = begin; e < rows.offsets[row + 1]; ++e)
      if (!owners.owns(rank, rows.columns[e])) {
        arcs_.push_back({VertexId(e - begin), rows.columns[e]});
        vertices_.push_back(rows.columns[e]);
      }
    offsets_.push_back(Index(arcs_.size()));
  }
  std::ranges::sort(vertices_);
  vertices_.erase(std::unique(vertices_.begin(), vertices_.end()), vertices_.end());
  // These live as long as the run, so they give back the capacity that they don't use.
  vertices_.shrink_to_fit();
  arcs_.shrink_to_fit();
  for (Arc& arc : arcs_)
    arc.vertex = VertexId(std::ranges::lower_bound(vertices_, arc.vertex) - vertices_.begin());
}

void RemoteDraws::draw(std::uint64_t key, VertexId row, std::uint32_t size, bool replace,
                       std::span<VertexId> positions, Scratch& scratch) const {
  const auto arcs = arcs_.of(row);
  const auto of_others = std::size_t(others(key, arcs, size, replace, Index(positions.size())));
  const std::size_t own = positions.size() - of_others;
  draw_own(key_of(key, kOwn), arcs, size, replace, positions.first(own), scratch);
  draw_others(key_of(key, kOthers), arcs, replace, positions.subspan(own), scratch);
}

Index RemoteDraws::others(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, std::uint32_t size,
                          bool replace, Index drawn) const {
  const auto of_others = Index(arcs.size()), own = Index(size) - of_others;
  const auto can_give = [&](Index there) { return replace && there > 0 ? drawn : there; };
  const Index least = drawn - std::min(drawn, can_give(own)), most = std::min(drawn, can_give(of_others));
  double sum = double(of_others);
  if (split_ == Split::kMask) {
    sum = 0;
    for (const RemoteArcs::Arc& arc : arcs) sum += probability(arc);
  }
  const double share = sum / std::max(double(own) + sum, 1e-300),
               wanted = std::clamp(double(drawn) * (share - shift_), double(least), double(most));
  const auto whole = Index(wanted);
  return whole + (uniform(key_of(key, kHowMany), 0) < wanted - double(whole) ? 1 : 0);
}

/// Draws positions among own neighbours only, then translates them to positions among all neighbours.
void RemoteDraws::draw_own(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, std::uint32_t size,
                           bool replace, std::span<VertexId> positions, Scratch& scratch) const {
  const auto own = std::uint32_t(size - arcs.size());
  replace ? PositionDraws::with_replacement(key, own, positions)
          : scratch.own.without_replacement(key, own, positions);
  for (VertexId& position : positions) {
    std::size_t before = 0, end = arcs.size();  // `before`: other ranks' arcs before it
    while (before < end) {
      const std::size_t middle = (before + end) / 2;
      if (arcs[middle].position - VertexId(middle) <= position)
        before = middle + 1;
      else
        end = middle;
    }
    position += VertexId(before);
  }
}

void RemoteDraws::draw_others(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, bool replace,
                              std::span<VertexId> positions, Scratch& scratch) const {
  if (positions.empty()) return;
  if (replace) {
    scratch.sums.clear();
    double sum = 0;
    for (const RemoteArcs::Arc& arc : arcs) scratch.sums.push_back(sum += probability(arc));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto at = std::ranges::upper_bound(scratch.sums, uniform(key, i) * sum) - scratch.sums.begin();
      positions[i] = arcs[std::min(std::size_t(at), arcs.size() - 1)].position;
    }
    return;
  }
  scratch.keys.clear();
  for (const RemoteArcs::Arc& arc : arcs)
    scratch.keys.emplace_back(-std::log(uniform(key, std::uint64_t(arc.position))) / probability(arc),
                              arc.position);
  const auto end = scratch.keys.begin() + std::ptrdiff_t(positions.size());
  std::nth_element(scratch.keys.begin(), end - 1, scratch.keys.end());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = scratch.keys[i].second;
  std::ranges::sort(positions);
}

}  // namespace atl
