// A small part of a data set, as a data set of its own: for trying on it what would take long on the whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// `count` vertices that lie near each other, ascending (all, where there are no more): what is reached from
/// vertices with a mark, drawn by `seed`, over arcs. Of a vertex with many neighbours some are followed, so
/// that one hub isn't all there is. marks: (vertices). Memory: a byte a vertex.
std::vector<VertexId> drawn_neighbourhood(const CsrView& graph, const std::vector<std::uint8_t>& marks,
                                          Index count, std::uint64_t seed);

/// Writes the part of `vertices` (ascending), with the arcs between them, to a folder that doesn't exist:
/// features, labels, and of the splits `split`, whose column `column` is that of all. Pairs of an edge split
/// are left out.
void write_subset(const Dataset& dataset, std::span<const VertexId> vertices, const std::string& split,
                  int column, const std::filesystem::path& place);

}  // namespace atl
