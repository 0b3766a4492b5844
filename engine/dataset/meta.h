// meta.json: what a data set's folder says about itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "dataset/dataset.h"

namespace atl {

inline constexpr int kMostClasses = 1 << 24;

/// "dense", "sparse" or "bits", as meta.json says it.
const char* to_string(FeatureForm form);

/// "edges_validation.npy"
std::string pairs_file(PairSet set);

/// The text of meta.json; sets meta.checksum, the SHA-256 of everything else in it.
std::string print_meta(DatasetMeta& meta);

/// Throws Error, which begins with `name` and names the field, if the text is not what print_meta writes.
DatasetMeta parse_meta(std::string_view text, const std::string& name);

}  // namespace atl
