// Dense row-major matrices: an owner that allocates once, and views that never allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

/// How a matrix of Reals is stored: as Reals, or each element as bfloat16. Computations use Reals in both
/// cases.
enum class Storage : std::uint8_t { kReals, kHalves };

/// A view of a rectangle of a row-major matrix that is owned elsewhere; `stride` is the distance of rows in
/// elements. Copying copies the view. An optional view is absent if it has no columns (rows don't tell,
/// because a rank may own none). A matrix of Reals may be stored in halves; then `data` is null, and only
/// kernels read it.
template <class T>
struct View {
  using Half = std::conditional_t<std::is_const_v<T>, const Bfloat16, Bfloat16>;

  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Half* halves = nullptr;  // not null: the elements, instead of `data`'s

  View() = default;
  View(T* data_, Index rows_, Index cols_, Index stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  View(T* data_, Index rows_, Index cols_) : View(data_, rows_, cols_, cols_) {}
  View(std::nullptr_t, Index rows_, Index cols_) : View(static_cast<T*>(nullptr), rows_, cols_) {}
  /// Elements stored in halves.
  View(Half* halves_, Index rows_, Index cols_, Index stride_) requires(std::is_same_v<const T, const Real>)
      : rows(rows_), cols(cols_), stride(stride_), halves(halves_) {}
  View(Half* halves_, Index rows_, Index cols_) requires(std::is_same_v<const T, const Real>)
      : View(halves_, rows_, cols_, cols_) {}
  /// Elements in `memory`, which has room for reals_of(rows · cols, storage) Reals.
  View(T* memory, Index rows_, Index cols_, Storage storage) : View(memory, rows_, cols_) {
    if (storage == Storage::kHalves) halves = reinterpret_cast<Half*>(memory), data = nullptr;
  }
  /// Converts a writable view to a read-only one.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  View(View<U> other)
      : View(other.data, other.rows, other.cols, other.stride) {  // NOLINT: implicit by intent
    halves = other.halves;
  }

  T* row(Index r) const { return data + r * stride; }
  T& at(Index r, Index c) const { return data[r * stride + c]; }
  bool empty() const { return rows == 0 || cols == 0; }
  bool contiguous() const { return stride == cols || rows <= 1; }
  Storage storage() const { return halves != nullptr ? Storage::kHalves : Storage::kReals; }
  Index row_bytes() const { return cols * Index(halves != nullptr ? sizeof(Bfloat16) : sizeof(T)); }
  const void* address() const { return halves != nullptr ? static_cast<const void*>(halves) : data; }

  /// Rows begin … begin + count − 1.
  View slice_rows(Index begin, Index count) const {
    ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= rows, "rows {}+{} of {}", begin, count, rows);
    return from(begin * stride, count, cols);
  }
  View slice_cols(Index begin, Index count) const {
    ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= cols, "cols {}+{} of {}", begin, count, cols);
    return from(begin, rows, count);
  }
  /// The same number of rows with fewer columns, without gaps, in the same memory.
  View repacked(Index fewer) const {
    ATOLL_CHECK(fewer <= cols, "{} columns in {}", fewer, cols);
    View other = *this;
    other.cols = other.stride = fewer;
    return other;
  }

 private:
  View from(Index element, Index rows_, Index cols_) const {
    View part = *this;
    part.rows = rows_, part.cols = cols_;
    if (halves != nullptr) {
      part.halves += element;
    } else {
      part.data += element;
    }
    return part;
  }
};

/// Number of Reals that take as much memory as `elements` elements.
constexpr Index reals_of(Index elements, Storage storage) {
  constexpr Index kInOne = Index(sizeof(Real) / sizeof(Bfloat16));
  return storage == Storage::kHalves ? (elements + kInOne - 1) / kInOne : elements;
}

using MatrixView = View<Real>;
using ConstMatrixView = View<const Real>;

/// An owning matrix, 64-byte aligned, rows without padding. Movable; clone() copies it. Its contents are
/// undefined after construction and resize() unless zero() is called; at() works only in the host's memory.
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, Device device = Device::kCpu) { resize(rows, cols, device); }
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;

  /// Keeps the memory if it is large enough, so that a buffer is allocated once per phase and not per step.
  void resize(Index rows, Index cols, Device device = Device::kCpu);
  /// The same; true if the memory grew. `varies`: the next use may be a little larger, so growing adds a
  /// quarter.
  bool grow(Index rows, Index cols, Device device, bool varies);
  void zero();
  Matrix clone() const;

  Device device() const { return data_.get_deleter().device; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index bytes() const { return rows_ * cols_ * Index(sizeof(Real)); }
  /// Bytes of its memory, which may have been sized by an earlier, larger shape.
  Index held_bytes() const { return capacity_ * Index(sizeof(Real)); }
  Real* data() { return data_.get(); }
  const Real* data() const { return data_.get(); }
  Real& at(Index r, Index c) { return data_[std::size_t(r * cols_ + c)]; }
  Real at(Index r, Index c) const { return data_[std::size_t(r * cols_ + c)]; }

  MatrixView view() { return {data(), rows_, cols_}; }
  ConstMatrixView view() const { return {data(), rows_, cols_}; }
  operator MatrixView() { return view(); }             // NOLINT: implicit by intent
  operator ConstMatrixView() const { return view(); }  // NOLINT: implicit by intent

 private:
  std::unique_ptr<Real[], ReleaseMemory> data_;
  Index rows_ = 0, cols_ = 0, capacity_ = 0;
};

}  // namespace atl
