#include "tensor/context.h"

namespace atl {

MatrixView Workspace::matrix(std::string_view name, Index rows, Index cols, Storage storage) {
  auto at = buffers_.find(name);  // by view: a later call allocates nothing
  if (at == buffers_.end()) at = buffers_.emplace(name, Matrix()).first;
  const bool whole = storage == Storage::kReals;
  const Index in_one = whole ? cols : reals_of(rows * cols, storage);
  if (at->second.grow(whole ? rows : 1, in_one, device_, varies_)) ++growths_;
  return {at->second.data(), rows, cols, storage};
}

std::span<double> Workspace::doubles(std::string_view name, Index count) {
  constexpr Index kPerDouble = sizeof(double) / sizeof(Real);
  return {reinterpret_cast<double*>(matrix(name, 1, count * kPerDouble).data), std::size_t(count)};
}

Index Workspace::bytes() const {
  Index total = 0;
  for (const auto& [name, buffer] : buffers_) total += buffer.held_bytes();
  return total;
}

}  // namespace atl
