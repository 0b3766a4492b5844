// The safetensors format (github.com/huggingface/safetensors, "Format"): 8 bytes little-endian header length,
// a JSON header {name: {dtype, shape, data_offsets}, "__metadata__": {text: text}}, and raw little-endian
// data without gaps. Any Python can read it, and unlike a pickle it can't run code.
//
// Files written here are sealed: metadata "atoll.sha256" is the SHA-256 of everything else in the file, which
// shows a torn or bit-flipped file. Readers that don't know the seal ignore it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/types.h"

namespace atl {

enum class TensorType { kF32, kF64, kI64, kU8 };

const char* type_name(TensorType type);  // as in files: F32, F64, I64, U8
Index type_bytes(TensorType type);

template <class T>
constexpr TensorType type_of() {
  if constexpr (std::is_same_v<T, float>)
    return TensorType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return TensorType::kF64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return TensorType::kI64;
  else {
    static_assert(std::is_same_v<T, std::uint8_t>);
    return TensorType::kU8;
  }
}

/// A view of a named row-major array.
struct TensorView {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<Index> shape;  // empty: a scalar
  const std::byte* data = nullptr;

  Index count() const;  // elements
  Index bytes() const { return count() * type_bytes(type); }
};

template <class T>
TensorView tensor_view(std::string name, std::vector<Index> shape, const T* data) {
  return {std::move(name), type_of<T>(), std::move(shape), reinterpret_cast<const std::byte*>(data)};
}

using Metadata = std::map<std::string, std::string>;

/// Writes the file atomically and returns its seal. Names must differ. Throws Error when the file can't be
/// written.
std::string write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                              const Metadata& metadata);

/// A file read into memory. Movable; views stay valid while it lives.
class SafetensorsFile {
 public:
  /// Checks everything: lengths, names, types, shapes, that tensors cover the data once without gaps, and the
  /// seal if there is one. Throws Error naming the file, what is wrong and what to do.
  static SafetensorsFile read(const std::filesystem::path& path);
  /// The same for a file's bytes that another rank has read; errors call it `path`.
  static SafetensorsFile parse(std::vector<std::byte> bytes, const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }          // the whole file
  const std::vector<TensorView>& tensors() const { return tensors_; }  // by position in the file
  const Metadata& metadata() const { return metadata_; }               // including the seal
  const std::string& seal() const;                                     // "" without one
  const TensorView* find(const std::string& name) const;               // null without such a tensor

  /// Copies tensor `name` to `out`. Throws Error with the difference unless it exists with this type and
  /// shape.
  template <class T>
  void copy_to(const std::string& name, const std::vector<Index>& shape, T* out) const {
    copy_rows_to(name, shape, 0, shape.empty() ? 1 : shape[0], out);
  }
  /// Copies only rows begin … begin + count − 1 of a tensor whose whole shape is `shape`.
  template <class T>
  void copy_rows_to(const std::string& name, const std::vector<Index>& shape, Index begin, Index count,
                    T* out) const {
    copy_bytes(name, type_of<T>(), shape, begin, count, reinterpret_cast<std::byte*>(out));
  }

 private:
  void copy_bytes(const std::string& name, TensorType type, const std::vector<Index>& shape, Index begin,
                  Index count, std::byte* out) const;

  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  std::vector<TensorView> tensors_;
  Metadata metadata_;
};

// Definitions that the writer and the reader of safetensors files share.

inline constexpr const char* kMetadataKey = "__metadata__";
inline constexpr const char* kSealKey = "atoll.sha256";

struct TensorTypeRow {
  TensorType type;
  const char* name;
  Index bytes;
};
inline constexpr TensorTypeRow kTensorTypes[] = {{TensorType::kF32, "F32", 4},
                                                 {TensorType::kF64, "F64", 8},
                                                 {TensorType::kI64, "I64", 8},
                                                 {TensorType::kU8, "U8", 1}};

/// SHA-256 of the header's canonical text (keys sorted, no spaces, without the seal) and the data of
/// `tensors`, in the order of the file.
std::string safetensors_seal(const std::string& header, std::span<const TensorView> tensors);

}  // namespace atl
