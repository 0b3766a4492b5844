// The lines of an adjacency list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace atl {

/// Calls `take` for each line: a vertex, and the neighbours behind it. A line that is none, and a vertex that begins two
/// lines, as first neighbours in METIS' files do, are Errors that name file and line.
void read_adjacency_lines(
    const std::filesystem::path& path,
    const std::function<void(std::int64_t vertex, std::span<const std::int64_t> neighbours)>& take);

}  // namespace atl
