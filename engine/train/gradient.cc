#include "train/gradient.h"

#include <cmath>

namespace atl {
namespace {

using Entry = Parameters::Entry;

bool has_gradient(const Entry& entry) {
  return entry.spec.trainable && entry.count > 0;
}

}  // namespace

/// Neighbours with the same replicas are one run: all of those ranks hold both, so they agree on where a run ends.
Gradient::Gradient(Communicator& comm, Parameters& parameters) : comm_(comm), parameters_(parameters) {
  const std::vector<Entry>& entries = parameters.entries();
  for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    end = begin + 1;
    const Entry& first = entries[begin];
    if (!has_gradient(first)) continue;
    const auto joins = [&](const Entry& e) {
      return has_gradient(e) && e.placement.replicas == first.placement.replicas;
    };
    Index count = first.count;
    for (; end < entries.size() && joins(entries[end]); ++end) count += entries[end].count;
    runs_.emplace_back(comm, first.placement.replicas,
                       parameters.gradients().subspan(std::size_t(first.offset), std::size_t(count)));
  }
}

void Gradient::sum(Context& ctx) {
  for (ReplicatedRun& run : runs_) run.sum(comm_, ctx);
}

bool Gradient::finite(Context& ctx) {
  std::int64_t bad = count_non_finite(ctx, all());
  if (!parameters_.everywhere()) comm_.all_reduce(Traffic::kStatistics, std::span(&bad, 1));
  return bad == 0;
}

/// What every rank holds each adds for itself; of the rest each rank has a share.
double Gradient::norm(Context& ctx) {
  double shared = 0, share = 0;
  for (const ReplicatedRun& run : runs_) {
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

int Gradient::last_non_finite(Context& ctx) {
  if (count_non_finite(ctx, all()) == 0) return -1;
  const std::vector<Entry>& entries = parameters_.entries();
  for (int i = int(entries.size()) - 1; i >= 0; --i) {
    const Entry& e = entries[std::size_t(i)];
    const MatrixView held(parameters_.gradients().data() + e.offset, 1, e.count);
    if (has_gradient(e) && count_non_finite(ctx, held) > 0) return i;
  }
  return -1;
}

}  // namespace atl
