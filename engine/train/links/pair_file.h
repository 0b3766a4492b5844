// A file of pairs of vertices, which `atoll predict --pairs` scores.
#pragma once

#include <filesystem>

#include "dataset/edge_split.h"

namespace atl {

/// .npy (pairs, 2) of integers, or text, gzipped or not, with two ids per line, separated by spaces, tabs or a comma; # begins a comment. Ids are the
/// source's (Dataset::original_ids). Throws Error naming the row or line of an id that the data set doesn't have.
std::vector<VertexPair> read_pair_file(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace atl
