// Writes one .npy array row by row, so that arrays larger than memory can be written.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "dataset/format/npy.h"

namespace atl {

/// The bytes before an array's data, padded to 128, so that the data is aligned and the shape can be changed
/// afterwards.
std::string npy_header(Dtype dtype, std::span<const Index> shape);
/// The same for a dtype given as NumPy's code: "<U5".
std::string npy_header(std::string_view code, std::span<const Index> shape);

/// Append whole rows, then finish(). Throws Error naming the file when the disk is full.
class NpyWriter {
 public:
  /// Begins an array of any number of rows of `row_shape` (empty: one-dimensional).
  NpyWriter(std::filesystem::path path, Dtype dtype, std::vector<Index> row_shape = {});
  ~NpyWriter();
  NpyWriter(NpyWriter&& other) noexcept;
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  /// Appends elements in row-major order; T must be the dtype's.
  template <class T>
  void append(std::span<const T> elements) {
    append_bytes(elements.data(), elements.size_bytes());
  }
  template <class T>
  void append(const std::vector<T>& elements) {
    append(std::span<const T>(elements));
  }
  /// Sets the number of rows in the header. Call once, last.
  void finish();

  const std::filesystem::path& path() const { return path_; }

 private:
  void append_bytes(const void* data, std::size_t bytes);
  void flush();

  std::filesystem::path path_;
  Dtype dtype_;
  std::vector<Index> row_shape_;
  Index row_bytes_;
  Index bytes_ = 0;
  std::vector<char> buffer_;
  int file_ = -1;
};

/// Writes a whole array at once.
template <class T>
void write_npy(const std::filesystem::path& path, Dtype dtype, std::span<const T> elements,
               std::vector<Index> row_shape = {}) {
  NpyWriter writer(path, dtype, std::move(row_shape));
  writer.append(elements);
  writer.finish();
}

}  // namespace atl
