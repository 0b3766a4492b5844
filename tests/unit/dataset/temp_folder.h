// A folder of its own for each test, and small files to put into it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dataset/format/npy_writer.h"
#include "where.h"

namespace atl {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll_datasetXXXXXX").string();
    if (!mkdtemp(pattern.data())) ADD_FAILURE() << "no temporary folder";
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
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

/// Data sets that may not be copied into the project: tests on them run where they are at hand.
#define ATOLL_NEEDS_SHARED(name)                         \
  if (!std::filesystem::exists(::atl::kShared / (name))) \
  GTEST_SKIP() << "needs the data set " << (name) << " in " << ::atl::kShared.string()
