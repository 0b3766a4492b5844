// GraphSAINT's folders (Zeng et al. 2020): adj_full.npz (SciPy CSR; row = source), class_map.json
// (vertex → class, or → list of 0 and 1), role.json (tr, va, te: lists of vertices), feats.npy. Both JSON
// files may be gzipped. adj_train.npz is the same graph's training part and not needed. Features are raw:
// GraphSAINT standardises them on the training rows, FeatureScaling::kTraining.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset/splits.h"

namespace atl {

// The two JSON files of a GraphSAINT folder. Both are read as streams; keys may come in any order.

/// class_map.json: {"17": 3, …}, or {"17": [0, 1, 0], …} if vertices have several labels.
struct GraphSaintClasses {
  std::vector<std::int32_t> labels;  // (vertices) −1 for vertices that the file lacks; empty if multi-label
  std::vector<std::uint8_t> targets;  // (vertices, classes); empty unless multi-label
  Index classes = 0;                  // 0 unless multi-label
};

/// Throws Error naming file and vertex unless the file is such a map of vertices 0 … vertices − 1.
GraphSaintClasses read_class_map(const std::filesystem::path& path, Index vertices);

/// role.json: {"tr": […], "va": […], "te": […]}, lists of vertices. Throws Error likewise.
SplitTable read_roles(const std::filesystem::path& path, Index vertices);

}  // namespace atl
