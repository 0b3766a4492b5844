#include "strategies/p3/whole_weights.h"

#include <algorithm>

namespace atl {
WholeWeights::WholeWeights(Communicator& comm, const Model& whole_model, const Parameters& held,
                           const ColumnShare& share, std::uint64_t seed)
    : comm_(comm),
      held_(held),
      share_(share),
      whole_(
          whole_model.parameters(), seed, [](int, const ParameterSpec&) { return Placement(); },
          held.device()) {
  ATOLL_CHECK(whole_.entries().size() == held.entries().size(), "{} parameters, {} held",
              whole_.entries().size(), held.entries().size());
}

void WholeWeights::refresh(Context& ctx) {
  const Real* from = const_cast<Parameters&>(held_).values().data();  // read alone
  Real* const to = whole_.values().data();
  for (std::size_t i = 0; i < held_.entries().size(); ++i) {
    const Parameters::Entry& entry = held_.entries()[i];
    Real* const place = to + whole_.entries()[i].offset;
    if (entry.placement.everywhere())
      axpby(ctx, 1, {from + entry.offset, 1, entry.count}, 0, {place, 1, entry.count});
    else
      fetch(ctx, entry, place);
  }
}

/// A member's rows are neighbours in memory there and in ranges here.
void WholeWeights::fetch(Context& ctx, const Parameters::Entry& entry, Real* to) {
  const Index cols = entry.spec.cols;
  const MatrixView whole(to, entry.spec.rows, cols);
  const Real* own = const_cast<Parameters&>(held_).values().data() + entry.offset;
  const auto rows_of = [&](int m) {
    return Placement{rows_of_input(entry.spec, share_.first_of(m), share_.count_of(m)), {}};
  };
  Index most = 0;
  for (int m = 0; m < share_.members(); ++m) most += rows_of(m).held(entry.spec.rows) * cols;
  arrived_.grow(1, most, held_.device(), false);
  constexpr Index kWidth = sizeof(Real);
  Real* at = arrived_.data();
  for (int m = 0; m < share_.members(); ++m) {
    const Index count = rows_of(m).held(entry.spec.rows) * cols;
    if (m != share_.place) {
      const Rank peer = share_.group[std::size_t(m)];
      sends_.push_back({peer, reinterpret_cast<std::byte*>(const_cast<Real*>(own)), entry.count * kWidth});
      receives_.push_back({peer, reinterpret_cast<std::byte*>(at), count * kWidth});
    }
    at += count;
  }
  comm_.exchange(Lane::kBulk, Traffic::kEvaluation, sends_, receives_, ctx.stream).wait();
  sends_.clear(), receives_.clear();
  at = arrived_.data();
  for (int m = 0; m < share_.members(); ++m) {
    const Placement placed = rows_of(m);
    const Real* rows = m == share_.place ? own : at;
    for (const RowRange& range : placed.rows) {
      axpby(ctx, 1, {rows, range.count, cols}, 0, whole.slice_rows(range.begin, range.count));
      rows += range.count * cols;
    }
    at += placed.held(entry.spec.rows) * cols;
  }
}

Index WholeWeights::bytes() const {
  Index elements = 0;
  for (const Parameters::Entry& entry : whole_.entries())
    elements += entry.count * (entry.spec.trainable ? 2 : 1);
  return elements * Index(sizeof(Real)) + arrived_.held_bytes();
}

}  // namespace atl
