#include "tensor/constants.h"

#include <fmt/format.h>

#include <functional>

namespace atl {

void Constants::begin(std::span<const Real> values) {
  values_ = values;
  for (Kept& each : kept_) each.is_made = false;
}

Constants::Kept* Constants::find(ConstMatrixView operand, bool transposed) {
  const Real* const end = values_.data() + values_.size();
  if (std::less<>{}(operand.data, values_.data()) || !std::less<>{}(operand.data, end)) return nullptr;
  for (Kept& each : kept_)
    if (each.of.data == operand.data && each.of.rows == operand.rows && each.of.cols == operand.cols &&
        each.of.stride == operand.stride && each.transposed == transposed)
      return &each;
  return &kept_.emplace_back(Kept{operand, transposed, fmt::format("constants.{}", kept_.size())});
}

}  // namespace atl
