#include "dataset/format/npy.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "dataset/format/mapped_file.h"

namespace atl {
namespace {

template <Dtype dtype, class T>
struct StoredAs {
  static constexpr Dtype kDtype = dtype;
  using Type = T;
};

/// The element type in memory of each dtype that is a number.
using StoredTypes =
    std::tuple<StoredAs<Dtype::kBool, std::uint8_t>, StoredAs<Dtype::kInt8, std::int8_t>,
               StoredAs<Dtype::kInt16, std::int16_t>, StoredAs<Dtype::kInt32, std::int32_t>,
               StoredAs<Dtype::kInt64, std::int64_t>, StoredAs<Dtype::kUint8, std::uint8_t>,
               StoredAs<Dtype::kUint16, std::uint16_t>, StoredAs<Dtype::kUint32, std::uint32_t>,
               StoredAs<Dtype::kUint64, std::uint64_t>, StoredAs<Dtype::kFloat16, Half>,
               StoredAs<Dtype::kFloat32, float>, StoredAs<Dtype::kFloat64, double>>;

/// Calls f with a value of the element type that `dtype` stores.
template <class F>
void with_stored_type(Dtype dtype, F&& f) {
  const auto one_of = [&]<class... Stored>(std::tuple<Stored...>) {
    return ((dtype == Stored::kDtype && (f(typename Stored::Type{}), true)) || ...);
  };
  const bool number = one_of(StoredTypes{});
  ATOLL_CHECK(number, "text is not numbers");
}

/// Sets `out` to the value. Returns false if an integer T can't hold it exactly, or if it is finite and
/// beyond the range of a floating T.
template <class T, class Stored>
bool convert(Stored value, T& out) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return convert(to_float(value), out);
  } else if constexpr (std::is_floating_point_v<T>) {
    out = T(value);
    if constexpr (sizeof(T) < sizeof(Stored) && std::is_floating_point_v<Stored>)
      return std::isfinite(out) || !std::isfinite(value);
    return true;
  } else if constexpr (std::is_floating_point_v<Stored>) {
    // Limits as doubles. The upper one is exclusive: a double holds max() + 1 exactly, because it is a power
    // of two.
    const double wide = double(value);
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(wide >= double(std::numeric_limits<T>::min()) && wide < end) || wide != std::floor(wide))
      return false;
    out = T(value);
    return true;
  } else {
    out = T(value);
    return std::in_range<T>(value);
  }
}

template <class Stored>
std::string printed(Stored value) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return fmt::format("{}", to_float(value));
  } else {
    return fmt::format("{}", value);
  }
}

template <class T, class Stored>
[[noreturn]] void fail_to_convert(const std::string& name, Index row, Index column, Stored value) {
  if constexpr (std::is_floating_point_v<T>) {
    fail("{}: row {}, column {} is {}, too large for float32 (at most {:.2g}); scale the values", name, row,
         column, printed(value), std::numeric_limits<T>::max());
  } else {
    fail("{}: row {}, column {} is {}; allowed are whole numbers {} … {}", name, row, column, printed(value),
         std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
}

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>) return Dtype::kFloat32;
  if constexpr (std::is_same_v<T, double>) return Dtype::kFloat64;
  if constexpr (std::is_same_v<T, Half>) return Dtype::kFloat16;
  if constexpr (std::is_same_v<T, std::int32_t>) return Dtype::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::kInt64;
  return Dtype::kUint8;
}

}  // namespace

NpyArray NpyArray::raw(std::string_view data, NpyHeader header, std::string name,
                       std::shared_ptr<const void> owner) {
  NpyArray array;
  array.name_ = std::move(name);
  array.rows_ = header.shape.empty() ? 1 : header.shape[0];
  array.cols_ = 1;
  for (std::size_t d = 1; d < header.shape.size(); ++d) array.cols_ *= header.shape[d];
  if (header.fortran && header.shape.size() > 2) {
    fail(
        "{}: is stored column by column (fortran_order) in {} dimensions; save "
        "numpy.ascontiguousarray(array)",
        array.name_, header.shape.size());
  }
  header.fortran = header.fortran && header.shape.size() == 2;
  array.data_ = data.substr(0, std::size_t(array.rows_ * array.cols_ * header.item_bytes));
  array.header_ = std::move(header);
  array.owner_ = std::move(owner);
  return array;
}

NpyArray NpyArray::over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  NpyHeader header = parse_npy_header(bytes, name);
  const std::string_view data = bytes.substr(std::size_t(header.data_offset));
  return raw(data, std::move(header), std::move(name), std::move(owner));
}

NpyArray NpyArray::open(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  return in_file(file, file->bytes(), path.string());
}

NpyArray NpyArray::in_file(std::shared_ptr<const MappedFile> file, std::string_view bytes, std::string name) {
  NpyArray array = over(bytes, std::move(name), file);
  array.file_ = std::move(file);
  return array;
}

std::string NpyArray::description() const {
  std::string lengths;
  for (Index length : header_.shape) lengths += fmt::format("{}{}", lengths.empty() ? "" : ", ", length);
  return fmt::format("{} ({})", to_string(header_.dtype), lengths);
}

template <class T>
void NpyArray::read_rows(Index begin, Index count, T* out) const {
  ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= rows_, "rows {}+{} of {}", begin, count, rows_);
  if (is_text(header_.dtype))
    fail("{}: holds text where numbers are needed; convert it with astype()", name_);
  if (cols_ == 0) return;  // an empty file may claim 2⁶² rows without columns
  const Index row_step = header_.fortran ? 1 : cols_, col_step = header_.fortran ? rows_ : 1;
  with_stored_type(header_.dtype, [&]<class Stored>(Stored value) {
    for (Index r = begin; r < begin + count; ++r) {
      for (Index c = 0; c < cols_; ++c) {
        // memcpy, because elements may be unaligned
        std::memcpy(&value, data_.data() + (r * row_step + c * col_step) * Index(sizeof(Stored)),
                    sizeof(Stored));
        if (!convert(value, *out)) fail_to_convert<T>(name_, r, c, value);
        ++out;
      }
    }
  });
}

template <class T>
std::vector<T> NpyArray::read() const {
  std::vector<T> all(static_cast<std::size_t>(size()));
  read_rows(0, rows_, all.data());
  return all;
}

template <class T>
std::span<const T> NpyArray::values() const {
  const bool same = dtype_of<T>() == header_.dtype || (sizeof(T) == 1 && header_.dtype == Dtype::kBool);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data_.data()) % alignof(T) == 0;
  if (!same || header_.fortran || !aligned) {
    fail("{}: is {}{}; it must be {} in row-major order: import the data set again", name_, description(),
         header_.fortran ? " column by column"
         : aligned       ? ""
                         : " and not aligned",
         to_string(dtype_of<T>()));
  }
  return {reinterpret_cast<const T*>(data_.data()), std::size_t(size())};
}

std::vector<std::string> NpyArray::strings() const {
  ATOLL_CHECK(is_text(header_.dtype), "{} is not text", description());
  std::vector<std::string> all;
  for (Index i = 0; i < size(); ++i) {
    const std::string_view element =
        data_.substr(std::size_t(i * header_.item_bytes), std::size_t(header_.item_bytes));
    all.push_back(header_.dtype == Dtype::kUnicode
                      ? utf8_of_ucs4(element)
                      : std::string(element.substr(0, element.find_last_not_of('\0') + 1)));
  }
  return all;
}

void NpyArray::forget_rows(Index begin, Index end) const {
  if (!file_) return;
  const auto forget = [&](Index first, Index count) {
    file_->forget(
        data_.substr(std::size_t(first * header_.item_bytes), std::size_t(count * header_.item_bytes)));
  };
  if (!header_.fortran) return forget(begin * cols_, (end - begin) * cols_);
  for (Index c = 0; c < cols_; ++c) forget(c * rows_ + begin, end - begin);
}

NpyArray NpyArray::transposed() const {
  expect_shape(*this, {-1, -1});
  NpyArray turned = *this;
  turned.name_ += ", transposed";
  std::swap(turned.header_.shape[0], turned.header_.shape[1]);
  std::swap(turned.rows_, turned.cols_);
  turned.header_.fortran = !header_.fortran;
  return turned;
}

void expect_shape(const NpyArray& array, std::span<const Index> lengths) {
  bool same = array.shape().size() == lengths.size();
  std::string wanted;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    same = same && (lengths[d] < 0 || lengths[d] == array.shape()[d]);
    wanted += (d ? ", " : "") + (lengths[d] >= 0 ? std::to_string(lengths[d]) : d == 0 ? "rows" : "columns");
  }
  if (!same) fail("{}: is {}; must be ({})", array.name(), array.description(), wanted);
}

template void NpyArray::read_rows(Index, Index, float*) const;
template void NpyArray::read_rows(Index, Index, double*) const;
template void NpyArray::read_rows(Index, Index, std::int32_t*) const;
template void NpyArray::read_rows(Index, Index, std::int64_t*) const;
template void NpyArray::read_rows(Index, Index, std::uint8_t*) const;
template std::vector<float> NpyArray::read() const;
template std::vector<double> NpyArray::read() const;
template std::vector<std::int32_t> NpyArray::read() const;
template std::vector<std::int64_t> NpyArray::read() const;
template std::vector<std::uint8_t> NpyArray::read() const;
template std::span<const float> NpyArray::values() const;
template std::span<const double> NpyArray::values() const;
template std::span<const Half> NpyArray::values() const;
template std::span<const std::int32_t> NpyArray::values() const;
template std::span<const std::int64_t> NpyArray::values() const;
template std::span<const std::uint8_t> NpyArray::values() const;

}  // namespace atl
