#include "tensor/matrix.h"

namespace atl {

void Matrix::resize(Index rows, Index cols, Device device) {
  ATOLL_CHECK(rows >= 0 && cols >= 0, "{} x {}", rows, cols);
  const Index wanted = rows * cols;
  if (wanted > capacity_ || device != this->device()) {
    data_ = {nullptr, ReleaseMemory{device}};
    capacity_ = 0;
    if (wanted > 0) {
      const Allocation memory = memory_of(device).allocate(std::size_t(wanted) * sizeof(Real));
      data_.reset(static_cast<Real*>(memory.data));
      capacity_ = Index(memory.bytes / sizeof(Real));
    }
  }
  rows_ = rows;
  cols_ = cols;
}

bool Matrix::grow(Index rows, Index cols, Device device, bool varies) {
  const Index wanted = rows * cols;
  const bool grows = wanted > capacity_;
  if (grows && varies) resize(1, wanted + wanted / 4, device);
  resize(rows, cols, device);
  return grows;
}

void Matrix::zero() {
  if (rows_ * cols_ > 0) memory_of(device()).clear(data(), std::size_t(bytes()));
}

Matrix Matrix::clone() const {
  Matrix copy(rows_, cols_, device());
  if (rows_ * cols_ > 0) memory_of(device()).copy(copy.data(), data(), std::size_t(bytes()));
  return copy;
}

}  // namespace atl
