// Splits stored as three masks in one .npz: our neutral layout's, Geom-GCN's, PyTorch Geometric's.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "dataset/splits.h"

namespace atl {

/// (vertices, columns) from arrays train, val and test (or train_mask, …) of shape [vertices] or [vertices,
/// columns].
SplitTable read_mask_split(const std::filesystem::path& path, Index vertices);

/// The columns of several one-column files side by side, in the order given.
SplitTable read_mask_splits(std::span<const std::filesystem::path> paths, Index vertices);

}  // namespace atl
