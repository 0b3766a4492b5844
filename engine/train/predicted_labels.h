// predicted_labels.npy: predictions in the labels of the source, where those aren't the classes' numbers
// (DatasetMeta::class_names). The model keeps them, for data sets that have no labels.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "train/checkpoint/safetensors.h"

namespace atl {

/// "atoll.class.0", …
void add_class_names(std::span<const std::string> names, Metadata& metadata);
/// Empty: classes have no names.
std::vector<std::string> class_names_of(const Metadata& metadata);

/// Writes `folder`/predicted_labels.npy from its predictions.npy: int64 if all names are whole numbers, else text. Without
/// names nothing is written, and a file of an earlier run is removed.
void write_predicted_labels(const std::filesystem::path& folder, std::span<const std::string> names);

}  // namespace atl
