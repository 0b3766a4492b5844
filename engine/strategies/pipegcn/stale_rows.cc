#include "strategies/pipegcn/stale_rows.h"

#include <cmath>
#include <utility>

#include "tensor/copies.h"

namespace atl {

StaleRows::StaleRows(Context& ctx, Index leaving, Index arriving, Index cols,
                     std::optional<Smoothing> smoothing)
    : ctx_(ctx),
      smoothing_(smoothing),
      leaving_(leaving, cols, ctx.device),
      arriving_(arriving, cols, ctx.device),
      used_(arriving, cols, ctx.device),
      error_(ctx.device, 1) {
  arriving_.zero();
  if (!smoothing_) return;
  average_.resize(arriving, cols, ctx.device);
  average_.zero();
}

void StaleRows::take(std::int64_t nth, bool measures) {
  pending_.wait();
  if (measures) measure_against_arriving();
  std::swap(used_, arriving_);
  if (!smoothing_ || nth == 0) return;
  const double gamma = smoothing_->decay;
  axpby(ctx_, Real(1 - gamma), used_, Real(gamma), average_);
  const double whole = smoothing_->bias_correction ? 1 - std::pow(gamma, double(nth)) : 1;
  axpby(ctx_, Real(1 / whole), average_, 0, used_);
}

/// Measures the values used before. Their memory holds the differences, since nothing else reads them any
/// more.
void StaleRows::measure_against_arriving() {
  axpby(ctx_, 1, arriving_, -1, used_);
  const Index count = used_.rows() * used_.cols();
  Error* const error = error_.data();
  zero_sums(ctx_, {&error->differences, 1});
  zero_sums(ctx_, {&error->size, 1});
  squared_norm(ctx_, count, used_.data(), &error->differences);
  squared_norm(ctx_, count, arriving_.data(), &error->size);
}

StaleRows::Error StaleRows::error() const {
  return read(ctx_, error_.data());
}

void StaleRows::hold(std::vector<NamedMatrix>& all, const std::string& name, bool is_used) {
  if (!travels()) return;
  pending_.wait();
  if (!is_used) all.push_back({name + ".arrived", arriving_, ctx_.device});
  if (average_.cols() > 0) all.push_back({name + ".average", average_, ctx_.device});
}

Index StaleRows::bytes() const {
  return leaving_.held_bytes() + arriving_.held_bytes() + used_.held_bytes() + average_.held_bytes();
}

}  // namespace atl
