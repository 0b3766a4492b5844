// Arcs in lines of text: ids and weights, and what the lines of each text format hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "base/types.h"
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

// The lines of an edge list.

struct SnapSummary {
  bool says_undirected = false;     // "# Undirected graph", as in SNAP's own files
  int columns = 0;                  // in each line
  bool whole_numbers = true;        // in all columns after the ids
  bool counts_lines = true;         // the first column is 0, 1, … or 1, 2, …
  IdArc first;                      // of the first line
  std::int64_t largest_other = -1;  // among other lines' ids
};

/// Calls `take` for each arc. Throws Error naming file and line for a line that is no arc, or that has
/// another number of columns than the first, as in an adjacency list.
SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const IdArc&)>& take);

// The lines of an adjacency list.

/// Calls `take` for each line with its vertex and the neighbours after it. Throws Error naming file and line
/// for an invalid line, and for a vertex that begins two lines. METIS' files, whose lines begin with
/// neighbours, have such lines.
void read_adjacency_lines(
    const std::filesystem::path& path,
    const std::function<void(std::int64_t vertex, std::span<const std::int64_t> neighbours)>& take);

// The lines of a MatrixMarket file (Boisvert, Pozo, Remington 1996).

struct MatrixMarketHeader {
  bool has_values = false;  // real or integer; else pattern
  bool symmetric = false;
  Index size = 0;  // rows = columns
  Index entries = 0;
};

struct MatrixEntry {
  VertexId row = 0, column = 0;  // from 0
  double value = 1;
};

/// Calls `take` for each entry. Throws Error naming file and line unless the file is a square coordinate
/// matrix with as many entries as announced and, if `weights`, a value ≥ 0 in each.
MatrixMarketHeader read_matrixmarket(
    const std::filesystem::path& path, bool weights,
    const std::function<void(const MatrixMarketHeader&, const MatrixEntry&)>& take);

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
