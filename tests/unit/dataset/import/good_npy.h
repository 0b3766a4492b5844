// A correct source in the neutral layout, which tests then break.
#pragma once

#include "dataset/import/bad_input.h"

namespace atl {

inline void good_npy(const std::filesystem::path& folder) {
  write_array(folder / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2}, {2});
  write_array(folder / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 4, 5, 6}, {2});
  write_array(folder / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  write_text(folder / "meta.json", R"({"num_nodes": 3, "num_edges": 2, "num_classes": 2})");
}

/// One whose features.npz a test writes.
inline void good_npy_without_features(const std::filesystem::path& folder) {
  good_npy(folder);
  std::filesystem::remove(folder / "features.npy");
}

}  // namespace atl
