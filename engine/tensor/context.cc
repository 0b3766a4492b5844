#include "tensor/context.h"

namespace atl {

MatrixView Workspace::matrix(const std::string& name, Index rows, Index cols) {
  Matrix& buffer = buffers_[name];
  buffer.resize(rows, cols);
  return buffer.view();
}

Index Workspace::bytes() const {
  Index total = 0;
  for (const auto& [name, buffer] : buffers_) total += buffer.bytes();
  return total;
}

}  // namespace atl
