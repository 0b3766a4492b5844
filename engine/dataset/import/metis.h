// METIS' graph files: a header with the numbers of vertices and edges, then a line for each vertex with its
// neighbours, counted from 1. Vertex sizes and weights are left out; edge weights are kept if asked for.
// Edges have no direction, and each is in the lines of both its ends.
#pragma once

#include <filesystem>
#include <functional>

#include "base/types.h"

namespace atl {

// The lines of a METIS graph file (Karypis, Kumar 1998; METIS 5.1's manual, section 4.1.1).

/// The line "n m [fmt [ncon]]".
struct MetisHeader {
  Index vertices = 0, edges = 0;
  bool sizes = false;         // each line begins with the vertex' size …
  Index vertex_weights = 0;   // … and this many weights
  bool edge_weights = false;  // a weight follows each neighbour
};

struct MetisArc {
  VertexId vertex = 0, neighbour = 0;  // from 0
  Index weight = 1;
};

/// Calls `take` for each neighbour in each line, so twice per edge. Throws Error naming file and line if the
/// file is invalid: an id out of range, a vertex that lists itself, an edge that only one end lists or that
/// has different weights at its ends, or not as many lines or edges as the header says.
MetisHeader read_metis(const std::filesystem::path& path,
                       const std::function<void(const MetisHeader&, const MetisArc&)>& take);

}  // namespace atl
