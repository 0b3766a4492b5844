// Writes .npz archives: zip without compression, zip64 throughout, so that an array may be of any size.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/format/npy.h"

namespace atl {

/// Add arrays one after the other, then finish(). Throws Error naming the file when the disk is full.
class NpzWriter {
 public:
  explicit NpzWriter(std::filesystem::path path);

  /// Adds a whole array; `elements` are of `dtype`, row-major, as many as `shape` says.
  template <class T>
  void add(const std::string& array, Dtype dtype, std::span<const Index> shape, std::span<const T> elements) {
    add_bytes(array, dtype, shape, {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
  }
  void finish();

 private:
  struct Entry {
    std::string file;
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0, offset = 0;
  };
  void add_bytes(const std::string& array, Dtype dtype, std::span<const Index> shape, std::string_view data);
  void write(std::string_view bytes);
  void expect_written() const;

  std::filesystem::path path_;
  std::ofstream file_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace atl
