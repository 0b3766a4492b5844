// Adjacency lists, as NetworkX and DeepWalk write them: a line begins with a vertex, and its neighbours
// follow, separated by spaces, tabs or commas; '#' begins a comment. A vertex alone in its line has no
// neighbours there. v in u's line is the arc u → v. Ids may have gaps, as in an edge list. NetworkX writes an
// undirected edge once, DeepWalk's files have it in both lines: the user says which (--symmetrise).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace atl {

// The lines of an adjacency list.

/// Calls `take` for each line with its vertex and the neighbours after it. Throws Error naming file and line
/// for an invalid line, and for a vertex that begins two lines, as first neighbours in METIS' files do.
void read_adjacency_lines(
    const std::filesystem::path& path,
    const std::function<void(std::int64_t vertex, std::span<const std::int64_t> neighbours)>& take);

}  // namespace atl
