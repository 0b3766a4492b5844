// The two JSON files of a GraphSAINT folder. Both are read as a stream; keys come in any order.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset/splits.h"

namespace atl {

/// class_map.json: {"17": 3, …}, or {"17": [0, 1, 0], …} where vertices have several labels.
struct GraphSaintClasses {
  std::vector<std::int32_t> labels;   // (vertices) −1 where the file says nothing; empty where multi-label
  std::vector<std::uint8_t> targets;  // (vertices, classes); empty unless multi-label
  Index classes = 0;                  // 0 unless multi-label
};

/// Throws Error naming file and vertex for whatever is not such a map of vertices 0 … vertices − 1.
GraphSaintClasses read_class_map(const std::filesystem::path& path, Index vertices);

/// role.json: {"tr": […], "va": […], "te": […]}, lists of vertices. Throws Error likewise.
SplitTable read_roles(const std::filesystem::path& path, Index vertices);

}  // namespace atl
