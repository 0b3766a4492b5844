#include "train/gradient.h"

#include <cmath>

namespace atl {
namespace {

using Entry = Parameters::Entry;

bool has_gradient(const Entry& entry) {
  return entry.spec.trainable && entry.count > 0;
}

}  // namespace

/// An entry of which every rank holds all rows is in several pieces where they are made whole one by one.
std::vector<Gradient::Piece> Gradient::pieces_of(const std::vector<Entry>& entries) {
  std::vector<Piece> pieces;
  for (int i = 0; i < int(entries.size()); ++i) {
    const Entry& e = entries[std::size_t(i)];
    if (!has_gradient(e)) continue;
    if (e.spec.parts == 1 || !e.placement.everywhere()) {
      pieces.push_back({i, -1, e.offset, e.count});
      continue;
    }
    for (int part = 0; part < e.spec.parts; ++part)
      pieces.push_back(
          {i, part, e.offset + e.spec.part_begin(part) * e.spec.cols, e.spec.part_rows(part) * e.spec.cols});
  }
  return pieces;
}

/// Neighbours of a layer with the same replicas are one run: all of those ranks hold both, so they agree on where a run ends.
Gradient::Gradient(Communicator& comm, Parameters& parameters)
    : comm_(comm), parameters_(parameters), pieces_(pieces_of(parameters.entries())) {
  const auto entry_of = [&](const Piece& p) -> const Entry& {
    return parameters.entries()[std::size_t(p.entry)];
  };
  for (std::size_t begin = 0, end = 0; begin < pieces_.size(); begin = end) {
    const Piece& first = pieces_[begin];
    const int layer = entry_of(first).layer;
    const std::vector<Rank>& replicas = entry_of(first).placement.replicas;
    const auto joins = [&](const Piece& p) {
      return p.part == first.part && entry_of(p).layer == layer && entry_of(p).placement.replicas == replicas;
    };
    Index count = 0;
    for (end = begin; end < pieces_.size() && joins(pieces_[end]); ++end) {
      pieces_[end].run = runs_.size();
      count += pieces_[end].count;
    }
    const auto values = parameters.gradients().subspan(std::size_t(first.offset), std::size_t(count));
    runs_.push_back({layer, first.part, ReplicatedRun(comm, replicas, values, parameters.device())});
  }
}

Index Gradient::bytes() const {
  Index sum = 0;
  for (const Run& run : runs_) sum += run.values.bytes();
  return sum;
}

void Gradient::begin_sum(int layer) {
  for (Run& run : runs_)
    if (run.layer == layer && !run.values.begun()) run.values.begin_sum(comm_);
}

void Gradient::begin_part(int layer, int part) {
  for (Run& run : runs_)
    if (run.layer == layer && run.part == part) run.values.begin_sum(comm_);
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
  for (const auto& [layer, part, run] : runs_) {
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

int Gradient::last_non_finite(Context& ctx, std::optional<int> layer, std::optional<int> part) {
  if (!layer && count_non_finite(ctx, all()) == 0) return -1;
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    const Piece& piece = pieces_[i];
    const Run& run = runs_[piece.run];
    if (layer.value_or(run.layer) != run.layer || part.value_or(piece.part) != piece.part) continue;
    if (run.values.begun()) continue;
    const MatrixView held(parameters_.gradients().data() + piece.offset, 1, piece.count);
    if (count_non_finite(ctx, held) > 0) return piece.entry;
  }
  return -1;
}

}  // namespace atl
