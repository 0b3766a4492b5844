#include "train/gradient.h"

#include "tensor/copies.h"
#include "tensor/kernels.h"

namespace atl {

TouchedRows::TouchedRows(Context& ctx, Communicator& comm, Parameters& parameters, int layer)
    : layer_(layer), everyone_(comm, {}), sum_(ctx.device), copies_(ctx) {
  for (const Parameters::Entry& entry : parameters.entries()) {
    if (entry.layer != layer || !entry.spec.trainable || entry.count == 0) continue;
    ATOLL_CHECK(entry.placement.everywhere(), "{} isn't whole on every rank", entry.spec.name);
    Real* const begin = parameters.gradients().data() + entry.offset;
    const int blocks = std::max(1, entry.spec.input_blocks);
    const Index rows = entry.spec.rows / blocks;
    for (int block = 0; block < blocks; ++block)
      pieces_.push_back(
          {{begin + block * rows * entry.spec.cols, rows, entry.spec.cols}, entry.spec.input_blocks > 0});
  }
}

void TouchedRows::choose(Context& ctx, std::span<const VertexId> features) {
  copies_.restart();
  features_ = copies_.of(features);
  count_ = 0;
  for (const Piece& piece : pieces_)
    count_ += (piece.by_feature ? Index(features.size()) : piece.values.rows) * piece.values.cols;
  packed_.grow(1, count_, ctx.device, true);
  sum_.reserve(ctx, everyone_, count_, Index(sizeof(Real)));
}

/// Calls visit(piece, its place among the packed rows).
template <class Visit>
void TouchedRows::for_each_piece(Visit visit) {
  Real* at = packed_.data();
  for (const Piece& piece : pieces_) {
    const MatrixView packed(at, piece.by_feature ? Index(features_.size()) : piece.values.rows,
                            piece.values.cols);
    visit(piece, packed);
    at += packed.rows * packed.cols;
  }
}

void TouchedRows::begin_sum(Context& ctx, Communicator& comm) {
  for_each_piece([&](const Piece& piece, MatrixView packed) {
    if (piece.by_feature)
      gather_rows(ctx, piece.values, features_.data(), packed);
    else
      axpby(ctx, 1, piece.values, 0, packed);
  });
  sum_.begin(ctx, comm, Traffic::kGradient, everyone_, std::span(packed_.data(), std::size_t(count_)));
}

void TouchedRows::finish_sum(Context& ctx) {
  sum_.end(ctx);
  for_each_piece([&](const Piece& piece, MatrixView packed) {
    if (piece.by_feature)
      scatter_rows(ctx, packed, features_.data(), piece.values);
    else
      axpby(ctx, 1, packed, 0, piece.values);
  });
}

namespace {

using Entry = Parameters::Entry;

bool has_gradient(const Entry& entry) {
  return entry.spec.trainable && entry.count > 0;
}

}  // namespace

/// An entry that every rank holds whole has several pieces where its parts are summed one by one.
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

/// Neighbouring pieces of a layer with the same replicas form one run. All of those ranks hold both, so they
/// agree on where a run ends.
Gradient::Gradient(Context& ctx, Communicator& comm, Parameters& parameters, bool deterministic)
    : comm_(comm),
      parameters_(parameters),
      pieces_(pieces_of(parameters.entries())),
      counts_(ctx.device),
      shares_(ctx.device, Index(pieces_.size())) {
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
    runs_.push_back({layer, first.part, ReplicatedRun(ctx, comm, replicas, values, deterministic)});
  }
}

Index Gradient::bytes() const {
  Index sum = 0;
  for (const Run& run : runs_) sum += run.values.bytes();
  return sum + (touched_ ? touched_->bytes() : 0);
}

void Gradient::clear(Context& ctx) {
  parameters_.zero_gradients(ctx);
  zero_sums(ctx, shares_.span());
}

/// Packs only where few rows are touched; otherwise it would save little.
void Gradient::touches(Context& ctx, int layer, std::span<const VertexId> features) {
  constexpr double kFew = 0.75;
  Index all = 0;
  for (const Entry& entry : parameters_.entries())
    if (entry.layer == layer && entry.spec.input_blocks > 0) all = entry.spec.rows / entry.spec.input_blocks;
  is_touched_ = !features.empty() && double(features.size()) < kFew * double(all);
  if (!is_touched_) return;
  if (!touched_) touched_.emplace(ctx, comm_, parameters_, layer);
  touched_->choose(ctx, features);
}

void Gradient::begin_sum(Context& ctx, int layer) {
  count_shares(ctx, layer, {});
  if (sums_touched(layer)) return touched_->begin_sum(ctx, comm_);
  for (Run& run : runs_)
    if (run.layer == layer && !run.values.begun()) run.values.begin_sum(ctx, comm_);
}

void Gradient::begin_part(Context& ctx, int layer, int part) {
  if (sums_touched(layer)) return;
  count_shares(ctx, layer, part);
  for (Run& run : runs_)
    if (run.layer == layer && run.part == part) run.values.begin_sum(ctx, comm_);
}

/// Counts a layer's elements that aren't finite. Leaves out gradients that are being summed, because they
/// were counted before.
void Gradient::count_shares(Context& ctx, int layer, std::optional<int> part) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    const Run& run = runs_[piece.run];
    if (run.layer != layer || part.value_or(piece.part) != piece.part || run.values.begun()) continue;
    const MatrixView held(parameters_.gradients().data() + piece.offset, 1, piece.count);
    atl::count_non_finite(ctx, held, shares_.data() + i);
  }
}

void Gradient::sum(Context& ctx) {
  for (Run& run : runs_)
    if (!run.values.begun() && !sums_touched(run.layer)) run.values.begin_sum(ctx, comm_);
  for (Run& run : runs_)
    if (!sums_touched(run.layer)) run.values.finish_sum(ctx);
  if (is_touched_) touched_->finish_sum(ctx);
  is_touched_ = false;
}

void Gradient::count_non_finite(Context& ctx, StepState* state) {
  atl::count_non_finite(ctx, all(), &state->not_finite);
  if (!parameters_.everywhere()) sum_counts(ctx, &state->not_finite);
}

/// For the norm, each rank sums the squares of the parameters that all ranks hold. For other parameters it
/// sums the squares of those that it counts, and the ranks' sums are added.
void Gradient::clip(Context& ctx, double longest, StepState* state) {
  if (longest <= 0) return;
  for (const auto& [layer, part, run] : runs_) {
    if (!run.everywhere() && !run.counted_here()) continue;
    squared_norm(ctx, Index(run.values().size()), run.values().data(),
                 &state->squares[run.everywhere() ? 0 : 1]);
  }
  if (!parameters_.everywhere()) sum_counts(ctx, &state->squares[1]);
  atl::clip(ctx, longest, state, all());
}

void Gradient::sum_counts(Context& ctx, double* count) {
  counts_.sum(ctx, comm_, Traffic::kStatistics, RankGroup(comm_, {}), std::span(count, 1));
}

int Gradient::last_non_finite_share(Context& ctx) const {
  return last_entry(ctx, shares_);
}

int Gradient::last_non_finite(Context& ctx) {
  Buffer<double> counts(ctx.device, shares_.size());
  zero_sums(ctx, counts.span());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const MatrixView held(parameters_.gradients().data() + pieces_[i].offset, 1, pieces_[i].count);
    atl::count_non_finite(ctx, held, counts.data() + i);
  }
  return last_entry(ctx, counts);
}

int Gradient::last_entry(Context& ctx, const Buffer<double>& counts) const {
  const std::vector<double> found = read(ctx, counts.span());
  for (std::size_t i = found.size(); i-- > 0;)
    if (found[i] > 0) return pieces_[i].entry;
  return -1;
}

ReplicatedRun::ReplicatedRun(Context& ctx, const Communicator& comm, const std::vector<Rank>& replicas,
                             std::span<Real> values, bool deterministic)
    : replicas_(std::make_unique<RankGroup>(comm, replicas)), values_(values), sum_(ctx.device) {
  on_devices_ =
      !deterministic && !memory_of(ctx.device).is_hosts && replicas_->everyone() && comm.sums_on_devices();
  if (!on_devices_ && replicas_->size() > 1)
    sum_.reserve(ctx, *replicas_, Index(values.size()), Index(sizeof(Real)));
}

void ReplicatedRun::begin_sum(Context& ctx, Communicator& comm) {
  begun_ = true;
  if (on_devices_)
    arrival_ = comm.begin_device_sum(Traffic::kGradient, values_, ctx.stream);
  else
    sum_.begin(ctx, comm, Traffic::kGradient, *replicas_, values_);
}

void ReplicatedRun::finish_sum(Context& ctx) {
  begun_ = false;
  arrival_.wait();
  sum_.end(ctx);
}

}  // namespace atl
