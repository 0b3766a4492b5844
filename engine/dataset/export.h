// Writes a data set in the neutral layout that NumPy and SciPy read: edges.npy, features.npy or .npz,
// labels.npy, split*.npz, weights.npy, original_ids.npy, meta.json. Importing it again with --format npy
// gives the same arrays.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// `place` must not exist unless `replace`, which takes an export alone and never the data set itself
/// (check_replaceable). Rows of every array are in the data set's order; original_ids.npy tells what each was
/// called in its source. Memory: bounded, whatever the size.
void export_dataset(const Dataset& dataset, const std::filesystem::path& place, bool replace = false);

// --replace takes the place of what the same command makes, a data set or an export, and of nothing else.

enum class Replaceable { kDataset, kExport };

/// Returns where `place` is free, an empty folder, or a folder that holds that `kind`, whole or torn. Throws
/// Error where something else would be deleted, or any of `sources`, what is read meanwhile, lies there.
void check_replaceable(const std::filesystem::path& place, Replaceable kind,
                       const std::vector<std::filesystem::path>& sources = {});

}  // namespace atl
