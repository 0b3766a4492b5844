// Splits stored as three arrays in one .npz: masks (our neutral layout's, Geom-GCN's, PyTorch Geometric's),
// or lists of ids (OGB's).
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "dataset/splits.h"

namespace atl {

/// Reads (vertices, columns) from arrays train, val and test (or train_mask, valid, …). They are masks of
/// shape [vertices] or [vertices, columns], of bool or any number that is 0 or 1, or lists of ids, where the
/// first vertex has `first_id`.
SplitTable read_mask_split(const std::filesystem::path& path, Index vertices, VertexId first_id);

/// The columns of several one-column files side by side, in the order given.
SplitTable read_mask_splits(std::span<const std::filesystem::path> paths, Index vertices);

}  // namespace atl
