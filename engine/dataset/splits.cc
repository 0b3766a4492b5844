#include "dataset/splits.h"

#include "base/error.h"

namespace atl {

std::string_view to_string(Split part) {
  constexpr std::string_view kNames[] = {"none", "train", "validation", "test"};
  return kNames[int(part)];
}

void SplitTable::mark(Index vertex, Index column, Split part, const std::string& source) {
  if (vertex < 0 || vertex >= vertices) {
    fail("{}: vertex {} is out of range; allowed are 0 … {}", source, vertex, vertices - 1);
  }
  std::uint8_t& value = values[std::size_t(vertex * columns + column)];
  if (value != 0 && value != std::uint8_t(part)) {
    fail("{}: vertex {} is in both {} and {} of split column {}; remove it from one of them", source, vertex,
         to_string(Split(value)), to_string(part), column);
  }
  value = std::uint8_t(part);
}

void SplitTable::mark_all(std::span<const std::uint8_t> mask, Split part, const std::string& source) {
  ATOLL_CHECK(Index(mask.size()) == vertices * columns, "{} of {} × {}", mask.size(), vertices, columns);
  for (Index i = 0; i < Index(mask.size()); ++i) {
    if (mask[std::size_t(i)] != 0) mark(i / columns, i % columns, part, source);
  }
}

}  // namespace atl
