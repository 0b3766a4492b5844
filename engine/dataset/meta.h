// meta.json, in which a data set's folder describes itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "dataset/dataset.h"

namespace atl {

inline constexpr int kMostClasses = 1 << 24;

/// Returns "dense", "sparse" or "bits", as in meta.json.
const char* to_string(FeatureForm form);

/// Returns, for example, "edges_validation.npy".
std::string pairs_file(PairSet set);

/// Returns the text of meta.json, and sets meta.checksum, the SHA-256 of everything else in it.
std::string print_meta(DatasetMeta& meta);

/// Throws Error, which begins with `name` and names the field, if the text is not what print_meta writes.
DatasetMeta parse_meta(std::string_view text, const std::string& name);

}  // namespace atl
