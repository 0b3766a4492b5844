#include "tensor/matrix.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace atl {
namespace {

/// Large matrices lie in 2 MB pages where the kernel grants them: rows gathered at random from 4 KB pages
/// miss the address cache at almost every row.
constexpr std::size_t kHugePage = std::size_t(2) << 20;
std::size_t alignment_of(std::size_t bytes) {
  return bytes >= 4 * kHugePage ? kHugePage : 64;
}

/// `bytes` in whole pages or cache lines.
std::size_t rounded(std::size_t bytes) {
  const std::size_t alignment = alignment_of(bytes);
  return (bytes + alignment - 1) / alignment * alignment;
}

void* allocate(std::size_t bytes) {
  const std::size_t alignment = alignment_of(bytes);
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // advice: refusal is no error
  return memory;
}

}  // namespace

void Matrix::Free::operator()(Real* p) const {
  std::free(p);
}

void Matrix::resize(Index rows, Index cols) {
  ATOLL_CHECK(rows >= 0 && cols >= 0, "{} x {}", rows, cols);
  const Index wanted = rows * cols;
  if (wanted > capacity_) {
    data_.reset();
    capacity_ = 0;
    const std::size_t bytes = rounded(std::size_t(wanted) * sizeof(Real));
    data_.reset(static_cast<Real*>(allocate(bytes)));
    capacity_ = Index(bytes / sizeof(Real));
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
