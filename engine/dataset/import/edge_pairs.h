// edge_split.npz of the neutral layout: train_pos, val_pos, test_pos, val_neg, test_neg, integers (pairs, 2) each.
#pragma once

#include <filesystem>

#include "dataset/edge_split.h"

namespace atl {

/// Throws Error naming the array that is missing or isn't (pairs, 2). `first_id` is what the first vertex is called.
EdgeSplit read_edge_split(const std::filesystem::path& path, VertexId first_id);

}  // namespace atl
