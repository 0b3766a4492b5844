// Small files that a test puts into its own folder (temporary_folder.h), and data sets that it may find.
#pragma once

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dataset/format/npy_writer.h"
#include "temporary_folder.h"
#include "where.h"

namespace atl {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

template <class T>
void write_array(const std::filesystem::path& path, Dtype dtype, const std::vector<T>& elements,
                 std::vector<Index> row_shape = {}) {
  std::filesystem::create_directories(path.parent_path());
  write_npy(path, dtype, std::span<const T>(elements), std::move(row_shape));
}

inline const std::filesystem::path kCora = source_folder() / "tests/data/cora";
inline const std::filesystem::path kShared = shared_data();

}  // namespace atl

/// For data sets that may not be copied into the project: tests on them run only where they are available.
#define ATOLL_NEEDS_SHARED(name)                         \
  if (!std::filesystem::exists(::atl::kShared / (name))) \
  GTEST_SKIP() << "needs the data set " << (name) << " in " << ::atl::kShared.string()
