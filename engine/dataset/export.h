// Writes a data set in the neutral layout that NumPy and SciPy read: edges.npy, features.npy or .npz,
// labels.npy, split*.npz, weights.npy, original_ids.npy, meta.json. Importing it again with --format npy
// gives the same arrays.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// `place` must not exist unless `replace`, which replaces only an export, never the data set itself
/// (check_replaceable). Rows of every array are in the data set's order; original_ids.npy has each row's id
/// in the source. Memory: bounded, whatever the size.
void export_dataset(const Dataset& dataset, const std::filesystem::path& place, bool replace = false);

// --replace replaces only what the same command makes, a data set or an export.

enum class Replaceable { kDataset, kExport };

/// Returns if nothing is at `place`, or an empty folder, or a folder that holds what `kind` says, whole or
/// torn. Throws Error if something else would be deleted, or if any of `sources`, which are read meanwhile,
/// is in it.
void check_replaceable(const std::filesystem::path& place, Replaceable kind,
                       const std::vector<std::filesystem::path>& sources = {});

}  // namespace atl
