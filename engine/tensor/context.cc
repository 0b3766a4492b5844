#include "tensor/context.h"

namespace atl {

MatrixView Workspace::matrix(std::string_view name, Index rows, Index cols) {
  auto at = buffers_.find(name);  // by view: a later call allocates nothing
  if (at == buffers_.end()) at = buffers_.emplace(name, Matrix()).first;
  at->second.resize(rows, cols);
  return at->second.view();
}

Index Workspace::bytes() const {
  Index total = 0;
  for (const auto& [name, buffer] : buffers_) total += buffer.held_bytes();
  return total;
}

}  // namespace atl
