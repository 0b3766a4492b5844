// Dense row-major matrices: an owner that allocates once and views that never do.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

/// A rectangle of a row-major matrix that somebody else owns; `stride` is the distance of rows in elements.
/// Copying copies the view. Where a view is optional, "absent" means no columns: a rank may own no rows at all.
template <class T>
struct View {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  View() = default;
  View(T* data_, Index rows_, Index cols_, Index stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  View(T* data_, Index rows_, Index cols_) : View(data_, rows_, cols_, cols_) {}
  /// A view to write through is one to read through.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  View(View<U> other)
      : View(other.data, other.rows, other.cols, other.stride) {}  // NOLINT: implicit by intent

  T* row(Index r) const { return data + r * stride; }
  T& at(Index r, Index c) const { return data[r * stride + c]; }
  bool empty() const { return rows == 0 || cols == 0; }
  bool contiguous() const { return stride == cols || rows <= 1; }

  /// Rows begin … begin + count − 1.
  View slice_rows(Index begin, Index count) const {
    ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= rows, "rows {}+{} of {}", begin, count, rows);
    return View(data + begin * stride, count, cols, stride);
  }
  View slice_cols(Index begin, Index count) const {
    ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= cols, "cols {}+{} of {}", begin, count, cols);
    return View(data + begin, rows, count, stride);
  }
};

using MatrixView = View<Real>;
using ConstMatrixView = View<const Real>;

/// An owning matrix, 64-byte aligned, rows without padding. Not copyable by accident; movable.
/// Its contents are undefined after construction and resize() unless zero() is called; at() is for the host's memory.
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, Device device = Device::kCpu) { resize(rows, cols, device); }
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;

  /// Keeps the memory where it suffices, so that a buffer is allocated once per phase and not per step.
  void resize(Index rows, Index cols, Device device = Device::kCpu);
  /// The same. `varies`: the next use may be a little larger, so where it grows it gets a quarter more. True where it grew.
  bool grow(Index rows, Index cols, Device device, bool varies);
  void zero();
  Matrix clone() const;

  Device device() const { return data_.get_deleter().device; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index bytes() const { return rows_ * cols_ * Index(sizeof(Real)); }
  /// Of the memory behind it, which may have been sized by an earlier, larger shape.
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
