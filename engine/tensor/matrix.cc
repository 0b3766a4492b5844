#include "tensor/matrix.h"

#include "tensor/rows.h"

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

BitMatrix transpose(const BitView& bits) {
  BitMatrix out(bits.cols, bits.rows);
  for (Index r = 0; r < bits.rows; ++r) {
    const std::uint32_t* words = bits.words + r * bits.row_words();
    for (Index w = 0; w < bits.row_words(); ++w) {
      for (std::uint32_t left = words[w]; left != 0; left &= left - 1)
        out.set(32 * w + __builtin_ctz(left), r);
    }
  }
  return out;
}

}  // namespace atl
