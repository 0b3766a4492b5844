// Makes a small part of a data set, as a data set of its own, to try what would take long on the whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// Returns `count` vertices that lie near each other, ascending, or all if there are fewer. A breadth-first
/// walk reaches them from marked vertices, which `seed` draws. It follows only some arcs of a vertex that has
/// many, so that one hub doesn't fill the count. marks: (vertices). Memory: a byte per vertex.
std::vector<VertexId> drawn_neighbourhood(const CsrView& graph, const std::vector<std::uint8_t>& marks,
                                          Index count, std::uint64_t seed);

/// Writes a data set of `vertices` (ascending) to the folder `place`, which must not exist: the arcs between
/// them, features, labels, and the split named `split`. All columns of that split become its column `column`,
/// so that a job finds it under any number. Pairs of an edge split are left out.
void write_subset(const Dataset& dataset, std::span<const VertexId> vertices, const std::string& split,
                  int column, const std::filesystem::path& place);

}  // namespace atl
