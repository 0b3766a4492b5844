#include "sampler/walks.h"

#include <algorithm>

#include "sampler/own_rows.h"

namespace atl {

Walks::Walks(const SetInput& in, Index count, int length)
    : in_(in), count_(count), length_(length), gathered_(in.comm), read_(std::size_t(in.owners.ranks())) {}

std::span<const VertexId> Walks::draw(const Draws& draws) {
  at_.take(count_ * (length_ + 1));
  const auto roots = at(0);
  for (std::size_t walk = 0; walk < roots.size(); ++walk)
    roots[walk] = VertexId(draws.uniform_at(walk, 0) * double(in_.vertices()));
  for (int step = 1; step <= length_; ++step) take_step(draws, step);
  std::ranges::copy(at_.span(), visited_.take(at_.size()).begin());
  const auto all = visited_.span();
  std::ranges::sort(all);
  return all.first(std::size_t(std::unique(all.begin(), all.end()) - all.begin()));
}

void Walks::take_step(const Draws& draws, int step) {
  const auto from = at(step - 1), to = at(step);
  table_.clear();
  here_.take(0), next_.take(0);
  for (const VertexId row : from) {
    if (!in_.owners.owns(in_.rank(), row)) continue;
    const auto number = VertexId(here_.size());
    if (table_.find_or_add(row, number) == number) here_.push(row);
  }
  in_.own_rows.draw({}, here_.span(), arcs_);
  for (std::size_t walk = 0; walk < from.size(); ++walk)
    if (in_.owners.owns(in_.rank(), from[walk]))
      next_.push(next_of(table_.find(from[walk]), draws.bits64_at(walk, std::uint64_t(step))));
  const auto next = gathered_.gather(next_.span());
  // Each rank lists its walks' steps in the order of the walks.
  std::ranges::fill(read_, 0);
  for (const VertexId row : from) ++read_[std::size_t(in_.owners.owner_of(row))];
  Index begin = 0;
  for (Index& each : read_) begin += std::exchange(each, begin);
  for (std::size_t walk = 0; walk < from.size(); ++walk)
    to[walk] = next[std::size_t(read_[std::size_t(in_.owners.owner_of(from[walk]))]++)];
}

/// Counts neighbours in prepared order, whatever order the structure has.
VertexId Walks::next_of(Index number, std::uint64_t bits) {
  const OwnRow row = own_row(arcs_, here_.span(), number);
  others_.take(0);
  for (const VertexId column : row.columns)
    if (column != row.row) others_.push(column);
  if (others_.size() == 0) return row.row;
  const auto others = others_.span();
  if (!std::ranges::is_sorted(others)) std::ranges::sort(others);
  return others[std::size_t(bits % others.size())];
}

Index Walks::reallocations() const {
  return at_.reallocations() + table_.reallocations() + here_.reallocations() + next_.reallocations() +
         arcs_.reallocations() + others_.reallocations() + gathered_.reallocations() +
         visited_.reallocations();
}

void Walks::count_sent(const Owners& ranks, StepSets::Sent sent) const {
  for (int step = 0; step < length_; ++step)
    AllGathered<VertexId>::count_sent(at_.span().subspan(std::size_t(step * count_), std::size_t(count_)),
                                      ranks, sent);
}

DrawnTogether::DrawnTogether(const SetInput& in)
    : in_(in), first_(VertexId(in.owners.first_row(in.rank()))), offsets_{0} {
  for_each_own_row(
      in, [&](const OwnRow& row) { offsets_.push_back(offsets_.back() + Index(row.columns.size())); });
  rows_.assign(offsets_.size() - 1, 0);
  arcs_.assign(std::size_t(offsets_.back()), 0);
}

void DrawnTogether::count(std::span<const VertexId> rows) {
  ++subgraphs_;
  table_.clear();
  own_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table_.find_or_add(rows[i], VertexId(i));
    if (in_.owners.owns(in_.rank(), rows[i])) own_.push_back(rows[i]);
  }
  in_.own_rows.draw({}, own_, drawn_);
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto at = std::size_t(own_[i] - first_);
    const OwnRow row = own_row(drawn_, own_, Index(i));
    ++rows_[at];
    for (std::size_t e = 0; e < row.columns.size(); ++e)
      if (table_.find(row.columns[e]) >= 0) ++arcs_[std::size_t(offsets_[at]) + e];
  }
}

}  // namespace atl
