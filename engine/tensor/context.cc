#include "tensor/context.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace atl {

MatrixView Workspace::matrix(const ScratchKey& of, Index rows, Index cols, Storage storage) {
  Matrix& buffer = buffers_[&of];
  const bool whole = storage == Storage::kReals;
  const Index in_one = whole ? cols : reals_of(rows * cols, storage);
  if (buffer.grow(whole ? rows : 1, in_one, device_, varies_)) ++reallocations_;
  return {buffer.data(), rows, cols, storage};
}

std::span<double> Workspace::doubles(const ScratchKey& of, Index count) {
  constexpr Index kPerDouble = sizeof(double) / sizeof(Real);
  return {reinterpret_cast<double*>(matrix(of, 1, count * kPerDouble).data), std::size_t(count)};
}

Index Workspace::bytes() const {
  Index total = 0;
  for (const auto& [of, buffer] : buffers_) total += buffer.held_bytes();
  return total;
}

void Constants::begin(std::span<const Real> values) {
  values_ = values;
  for (Kept& each : kept_) each.is_made = false;
}

bool Constants::is_constant(ConstMatrixView operand) const {
  const Real* const end = values_.data() + values_.size();
  if (!std::less<>{}(operand.data, values_.data()) && std::less<>{}(operand.data, end)) return true;
  return std::ranges::any_of(kept_,
                             [&](const Kept& each) { return each.is_made && each.values == operand.data; });
}

Constants::Kept& Constants::kept(ConstMatrixView operand, Made made) {
  for (Kept& each : kept_)
    if (each.of.data == operand.data && each.of.rows == operand.rows && each.of.cols == operand.cols &&
        each.of.stride == operand.stride && each.made == made)
      return each;
  return kept_.emplace_back(operand, made);
}

Constants::Place place_of(Context& ctx, ConstMatrixView operand, Made made, const ScratchKey& otherwise,
                          Index rows, Index cols) {
  if (ctx.constants == nullptr || !ctx.constants->is_constant(operand))
    return {ctx.workspace->matrix(otherwise, rows, cols), false};
  Constants::Kept& kept = ctx.constants->kept(operand, made);
  const MatrixView values = ctx.workspace->matrix(kept.key, rows, cols);
  kept.values = values.data;
  return {values, std::exchange(kept.is_made, true)};
}

}  // namespace atl
