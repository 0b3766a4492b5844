#include "train/gradient.h"

#include <cmath>

namespace atl {
namespace {

using Entry = Parameters::Entry;

bool has_gradient(const Entry& entry) {
  return entry.spec.trainable && entry.count > 0;
}

}  // namespace

/// Neighbours of a layer with the same replicas are one run: all of those ranks hold both, so they agree on where a run ends.
Gradient::Gradient(Communicator& comm, Parameters& parameters) : comm_(comm), parameters_(parameters) {
  const std::vector<Entry>& entries = parameters.entries();
  for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    end = begin + 1;
    const Entry& first = entries[begin];
    if (!has_gradient(first)) continue;
    const auto joins = [&](const Entry& e) {
      return has_gradient(e) && e.layer == first.layer && e.placement.replicas == first.placement.replicas;
    };
    Index count = first.count;
    for (; end < entries.size() && joins(entries[end]); ++end) count += entries[end].count;
    const auto values = parameters.gradients().subspan(std::size_t(first.offset), std::size_t(count));
    runs_.push_back({first.layer, ReplicatedRun(comm, first.placement.replicas, values)});
  }
}

Index Gradient::bytes() const {
  Index sum = 0;
  for (const Run& run : runs_) sum += run.values.bytes();
  return sum;
}

void Gradient::begin_sum(int layer) {
  for (Run& run : runs_)
    if (run.layer == layer) run.values.begin_sum(comm_);
}

void Gradient::sum(Context& ctx) {
  for (Run& run : runs_)
    if (!run.values.begun()) run.values.begin_sum(comm_);
  for (Run& run : runs_) run.values.finish_sum(ctx);
}

bool Gradient::finite(Context& ctx) {
  std::int64_t bad = count_non_finite(ctx, all());
  if (!parameters_.everywhere()) comm_.all_reduce(Traffic::kStatistics, std::span(&bad, 1));
  return bad == 0;
}

/// What every rank holds each adds for itself; of the rest each rank has a share.
double Gradient::norm(Context& ctx) {
  double shared = 0, share = 0;
  for (const auto& [layer, run] : runs_) {
    if (!run.everywhere() && !run.counted_here()) continue;
    (run.everywhere() ? shared : share) += squared_norm(ctx, Index(run.values().size()), run.values().data());
  }
  if (!parameters_.everywhere()) comm_.all_reduce(Traffic::kStatistics, std::span(&share, 1));
  return std::sqrt(shared + share);
}

void Gradient::clip(Context& ctx, double longest) {
  if (longest <= 0) return;
  const double length = norm(ctx);
  if (length > longest) scale(ctx, Real(longest / length), all());
}

int Gradient::last_non_finite(Context& ctx, std::optional<int> layer) {
  if (!layer && count_non_finite(ctx, all()) == 0) return -1;
  const std::vector<Entry>& entries = parameters_.entries();
  for (int i = int(entries.size()) - 1; i >= 0; --i) {
    const Entry& e = entries[std::size_t(i)];
    const MatrixView held(parameters_.gradients().data() + e.offset, 1, e.count);
    if (has_gradient(e) && layer.value_or(e.layer) == e.layer && count_non_finite(ctx, held) > 0) return i;
  }
  return -1;
}

}  // namespace atl
