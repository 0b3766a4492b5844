// Ids and weights in lines of text, as edge lists, adjacency lists and METIS files have them.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataset/format/text.h"

namespace atl {

/// An arc between ids of the source, which may have gaps and 64 bits.
struct IdArc {
  std::int64_t src = 0, dst = 0;
  double weight = 1;
};

/// Reads a vertex id, 0 or more; anything else is an Error. If the field is the `first` in its file and no
/// number, reads more lines to tell a header from ids that are text.
std::int64_t parse_id(std::string_view field, LineReader& lines, bool first);

/// Reads a weight: finite, not negative, and within float32; anything else is an Error.
double parse_weight(std::string_view field, const LineReader& lines);

}  // namespace atl
