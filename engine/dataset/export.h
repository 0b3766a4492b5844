// Writes a data set in the neutral layout that NumPy and SciPy read: edges.npy, features.npy or .npz,
// labels.npy, split*.npz, weights.npy, original_ids.npy, meta.json. Importing it again with --format npy
// gives the same arrays.
#pragma once

#include <filesystem>

#include "dataset/dataset.h"

namespace atl {

/// `place` must not exist unless `replace`, which takes an export alone and never the data set itself (dataset/replaced.h). Rows of every array are in the data set's order; original_ids.npy
/// tells what each was called in its source. Memory: bounded, whatever the size.
void export_dataset(const Dataset& dataset, const std::filesystem::path& place, bool replace = false);

}  // namespace atl
