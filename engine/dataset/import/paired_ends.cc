#include "dataset/import/paired_ends.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/random.h"

namespace atl {
namespace {

std::uint64_t edge_key(VertexId a, VertexId b) {
  return mix64(std::uint64_t(std::uint32_t(std::min(a, b))) << 32 | std::uint32_t(std::max(a, b)));
}

/// A key that sorts ends of the same edge and weight together.
std::tuple<VertexId, VertexId, Index> edge_of(const PairedEnds::End& end) {
  return {std::min(end.from, end.to), std::max(end.from, end.to), end.weight};
}

}  // namespace

void PairedEnds::add(const End& end) {
  const std::uint64_t key = edge_key(end.from, end.to);
  Group& group = groups_[key % kGroups];
  (end.from < end.to ? group.from_smaller : group.from_larger) +=
      mix64(key ^ mix64(std::uint64_t(end.weight)));
}

std::size_t PairedEnds::first_unpaired() const {
  const auto differ = [](const Group& group) { return group.from_smaller != group.from_larger; };
  return std::size_t(std::ranges::find_if(groups_, differ) - groups_.begin());
}

bool PairedEnds::are_paired() const {
  return first_unpaired() == kGroups;
}

bool PairedEnds::is_suspect(VertexId from, VertexId to) const {
  return edge_key(from, to) % kGroups == first_unpaired();
}

PairedEnds::End PairedEnds::find_lone(std::vector<End> suspects) {
  std::ranges::sort(suspects, {}, [](const End& end) { return std::tuple(edge_of(end), end.line); });
  for (std::size_t i = 0; i < suspects.size();) {
    std::size_t next = i, smaller = 0;
    for (; next < suspects.size() && edge_of(suspects[next]) == edge_of(suspects[i]); ++next)
      smaller += suspects[next].from < suspects[next].to;
    const std::size_t larger = next - i - smaller;
    const auto is_lone = [&](const End& end) { return (end.from < end.to) == (smaller > larger); };
    if (smaller != larger)
      return *std::find_if(suspects.begin() + std::ptrdiff_t(i), suspects.begin() + std::ptrdiff_t(next),
                           is_lone);
    i = next;
  }
  ATOLL_CHECK(false, "{} suspects are all paired", suspects.size());
  return {};
}

}  // namespace atl
