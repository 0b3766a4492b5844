#include "tensor/matrix.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace atl {

void Matrix::Free::operator()(Real* p) const { std::free(p); }

void Matrix::resize(Index rows, Index cols) {
  ATOLL_CHECK(rows >= 0 && cols >= 0, "{} x {}", rows, cols);
  const Index wanted = rows * cols;
  if (wanted > capacity_) {
    const std::size_t bytes = (std::size_t(wanted) * sizeof(Real) + 63) / 64 * 64;
    data_.reset();
    capacity_ = 0;
    auto* memory = static_cast<Real*>(std::aligned_alloc(64, bytes));
    if (memory == nullptr) throw std::bad_alloc();
    data_.reset(memory);
    capacity_ = wanted;
  }
  rows_ = rows;
  cols_ = cols;
}

void Matrix::zero() {
  if (rows_ * cols_ > 0) std::memset(data_.get(), 0, std::size_t(rows_ * cols_) * sizeof(Real));
}

Matrix Matrix::clone() const {
  Matrix copy(rows_, cols_);
  if (rows_ * cols_ > 0) std::memcpy(copy.data(), data(), std::size_t(bytes()));
  return copy;
}

}  // namespace atl
