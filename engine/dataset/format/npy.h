// Reads NumPy's .npy arrays (format 1.0, 2.0 and 3.0): booleans, integers of every width, floats of 16, 32
// and 64 bits, text. Files are memory-mapped, and converted piece by piece when read.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace atl {

// IEEE 754 half precision as stored in files. Conversion works on bits, so it is the same on every machine.

/// Two bytes of a float16 file.
struct Half {
  std::uint16_t bits = 0;
};

/// Largest finite half.
inline constexpr float kMaxHalf = 65504.0f;

/// Exact, also for denormals, infinities and NaN.
constexpr float to_float(Half half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = std::uint32_t(half.bits & 0x7fffu) << 13;
  const std::uint32_t scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1.0p112f);
  const std::uint32_t special =
      magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity and NaN keep their exponent
  return std::bit_cast<float>(sign | scaled | special);
}

/// Rounds to nearest, ties to even; magnitudes above kMaxHalf become infinity.
constexpr Half to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = std::uint16_t((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {std::uint16_t(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) return {std::uint16_t(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {  // denormal: adding 1/2 lets the float adder round at the half's last bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude + 0x0fffu + ((magnitude >> 13) & 1u);
  return {std::uint16_t(sign | ((rounded - 0x38000000u) >> 13))};
}

class MappedFile;

enum class Dtype {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBytes,   // text with one byte per letter
  kUnicode  // text with four bytes per letter
};

/// Returns "int32", or "text" for strings.
std::string to_string(Dtype dtype);
bool is_floating(Dtype dtype);
bool is_text(Dtype dtype);

/// The dtype and item size of a little-endian NumPy type code ("<i4", "|b1", "|S3"). Throws Error, which
/// begins with `name`, for all others; for big-endian ones it gives the remedy.
std::pair<Dtype, Index> parse_dtype(std::string_view code, const std::string& name);

/// The header before the data.
struct NpyHeader {
  Dtype dtype = Dtype::kFloat32;
  Index item_bytes = 4;
  bool fortran = false;      // column-major
  std::vector<Index> shape;  // empty: a scalar
  Index data_offset = 0;     // bytes
};

/// Bytes of the data; nothing if a length is negative, or the product of all non-zero lengths is beyond 64
/// bits.
std::optional<Index> npy_data_bytes(const NpyHeader& header);

/// Throws Error, which begins with `name`, unless the bytes hold a whole array, so that torn files are found.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

/// An array, which keeps its bytes alive. Copies share the bytes. Thread-safe.
class NpyArray {
 public:
  static NpyArray open(const std::filesystem::path& path);
  /// Errors call the array `name`; `owner` keeps `bytes`, a whole .npy file, alive.
  static NpyArray over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner);
  /// The same for bytes inside a mapped file, whose memory forget_rows() gives back.
  static NpyArray in_file(std::shared_ptr<const MappedFile> file, std::string_view bytes, std::string name);
  /// Raw elements, row-major unless `header.fortran`.
  static NpyArray raw(std::string_view data, NpyHeader header, std::string name,
                      std::shared_ptr<const void> owner);

  const std::string& name() const { return name_; }
  Dtype dtype() const { return header_.dtype; }
  const std::vector<Index>& shape() const { return header_.shape; }
  /// Length of the first dimension (1 for a scalar), and number of elements in each of its entries.
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  /// Returns, for example, "int32 (2708, 10)".
  std::string description() const;

  /// Copies rows begin … begin + count − 1 into out (count × cols()), row-major whatever the file's order,
  /// converted to T. Throws Error naming array, row and value if an integer T cannot hold the value, or a
  /// finite value is beyond a floating T.
  /// T: float, double, int32, int64, uint8.
  template <class T>
  void read_rows(Index begin, Index count, T* out) const;
  /// Reads all rows.
  template <class T>
  std::vector<T> read() const;
  /// The transpose of an array of two dimensions, without moving a byte.
  NpyArray transposed() const;

  /// The elements in place, without conversion. Throws Error unless dtype, order and alignment are T's.
  /// T: float, double, int32, int64, uint8, Half.
  template <class T>
  std::span<const T> values() const;

  /// The bytes of an array of text, and its elements as UTF-8.
  std::string_view text() const { return data_; }
  std::vector<std::string> strings() const;
  /// Call after a pass over rows begin … end − 1: gives their memory back if the file is mapped; otherwise
  /// without effect.
  void forget_rows(Index begin, Index end) const;

 private:
  std::string name_;
  NpyHeader header_;
  std::string_view data_;  // the elements alone
  Index rows_ = 0, cols_ = 0;
  std::shared_ptr<const void> owner_;       // arrays of one archive share its bytes
  std::shared_ptr<const MappedFile> file_;  // set if the bytes are a mapped file's
};

/// Throws Error unless the array has exactly these dimensions; a length below 0 allows any.
void expect_shape(const NpyArray& array, std::span<const Index> lengths);
inline void expect_shape(const NpyArray& array, std::initializer_list<Index> lengths) {
  expect_shape(array, std::span<const Index>(lengths.begin(), lengths.size()));
}

/// The text of one element, without the zeros that fill it up.
std::string utf8_of_ucs4(std::string_view bytes);

/// The reverse, without zeros at the end. Invalid UTF-8 becomes U+FFFD.
std::string ucs4_of_utf8(std::string_view text);

}  // namespace atl
