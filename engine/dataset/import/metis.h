// METIS' graph files: a header with the numbers of vertices and edges, then a line for each vertex with its
// neighbours, counted from 1. Vertex sizes and weights are left out; edge weights are kept where asked for.
// Edges have no direction and stand in both lines.
#pragma once

#include <filesystem>
#include <functional>

#include "base/types.h"

namespace atl {

// The lines of a METIS graph file (Karypis, Kumar 1998; METIS 5.1's manual, section 4.1.1).

/// "n m [fmt [ncon]]"
struct MetisHeader {
  Index vertices = 0, edges = 0;
  bool sizes = false;         // each line begins with the vertex' size …
  Index vertex_weights = 0;   // … and so many weights
  bool edge_weights = false;  // a weight follows each neighbour
};

struct MetisArc {
  VertexId vertex = 0, neighbour = 0;  // from 0
  Index weight = 1;
};

/// Calls `take` for each neighbour in each line, an edge thus from both ends. Throws Error naming file and
/// line for whatever is no such file: an id out of range, a vertex that lists itself, an edge that stands at
/// one end alone or has another weight there, and other numbers of lines or edges than the header says.
MetisHeader read_metis(const std::filesystem::path& path,
                       const std::function<void(const MetisHeader&, const MetisArc&)>& take);

}  // namespace atl
