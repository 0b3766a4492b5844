#include "sampler/history/history_directory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "sampler/owners.h"

namespace atl {

void PushedRows::take(const PushedRows& other) {
  std::ranges::copy(other.rows.span(), rows.take(other.rows.size()).begin());
  begins = other.begins, counts = other.counts;
}

std::span<const VertexId> PushedRows::of(Rank peer, int layer) const {
  const std::size_t layers = counts.size() / (begins.size() - 1);
  return rows.span().subspan(std::size_t(begins[std::size_t(peer)]),
                             std::size_t(counts[std::size_t(peer) * layers + std::size_t(layer)]));
}

Index PushedRows::all_of(int layer) const {
  Index all = 0;
  for (Rank peer = 0; peer + 1 < Rank(begins.size()); ++peer) all += Index(of(peer, layer).size());
  return all;
}

HistoryDirectory::HistoryDirectory(const HistoryRows& rows, const HistoryOptions& options)
    : rows_(&rows),
      options_(options),
      pushed_(std::size_t(options.layers) * std::size_t(rows.slots()), kNever),
      pushes_(std::size_t(options.delay) + 1) {
  ATOLL_CHECK(options.layers >= 1 && options.delay >= 1 && options.max_age >= options.delay,
              "{} layers, a delay of {}, an age of {}", options.layers, options.delay, options.max_age);
  for (Push& each : pushes_) each.arriving.rows.reserve(rows.slots());
}

const PushedRows* HistoryDirectory::pushed_in(std::int64_t step) const {
  if (step < 0) return nullptr;
  const Push& push = pushes_[std::size_t(step) % pushes_.size()];
  return push.step == step ? &push.arriving : nullptr;
}

const PushedRows* HistoryDirectory::due(std::int64_t step) const {
  return pushed_in(step - options_.delay);
}

void HistoryDirectory::begin(std::int64_t step) {
  step_ = step;
  const PushedRows* const arrived = due(step);
  if (arrived == nullptr) return;
  for (int layer = 0; layer < options_.layers; ++layer)
    for (Rank peer = 0; peer < rows_->ranks(); ++peer)
      for (const VertexId slot : arrived->of(peer, layer))
        pushed_[index(layer, slot)] = step - options_.delay;
}

PushedRows& HistoryDirectory::put(std::int64_t step) {
  Push& push = pushes_[std::size_t(step) % pushes_.size()];
  push.step = step;
  return push.arriving;
}

void HistoryDirectory::add(const PushedRows& arriving) {
  put(step_).take(arriving);
}

void HistoryDirectory::take(const HistoryDirectory& other) {
  step_ = other.step_;
  pushed_ = other.pushed_;
  for (std::size_t i = 0; i < pushes_.size(); ++i) {
    pushes_[i].step = other.pushes_[i].step;
    if (other.pushes_[i].step != kNever) pushes_[i].arriving.take(other.pushes_[i].arriving);
  }
}

std::int64_t HistoryDirectory::age(int layer, VertexId slot, std::int64_t step) const {
  return std::min(step - pushed_[index(layer, slot)], most_age());
}

void HistoryDirectory::set_age(int layer, VertexId slot, std::int64_t step, std::int64_t age) {
  pushed_[index(layer, slot)] = age == most_age() ? kNever : step - age;
}

Index HistoryDirectory::reallocations() const {
  Index sum = 0;
  for (const Push& each : pushes_) sum += each.arriving.rows.reallocations();
  return sum;
}

Index HistoryDirectory::bytes() const {
  Index sum = Index(pushed_.size() * sizeof(pushed_[0]));
  for (const Push& each : pushes_) sum += each.arriving.rows.bytes();
  return sum;
}

namespace {

constexpr Index kRowsDrawn = 16384;  // rows whose arcs are drawn together

struct ReadRow {
  VertexId row;
  Index arcs;
};

/// Each row once, with the number of its occurrences.
std::vector<ReadRow> counted(std::vector<VertexId>& rows) {
  std::ranges::sort(rows);
  std::vector<ReadRow> all;
  for (const VertexId row : rows) {
    if (all.empty() || all.back().row != row) all.push_back({row, 0});
    ++all.back().arcs;
  }
  return all;
}

}  // namespace

std::vector<VertexId> most_read_rows(Structure& graph, const Owners& owners, Rank rank, Index limit) {
  std::vector<VertexId> own, others;
  DrawnArcs arcs;
  const Index end = owners.first_row(rank) + owners.rows(rank);
  for (Index begin = owners.first_row(rank); begin < end; begin += kRowsDrawn) {
    own.resize(std::size_t(std::min(kRowsDrawn, end - begin)));
    std::iota(own.begin(), own.end(), VertexId(begin));
    graph.draw({}, own, arcs);
    for (const VertexId source : arcs.columns.span())
      if (!owners.owns(rank, source)) others.push_back(source);
  }
  std::vector<ReadRow> all = counted(others);
  const auto count = std::min(std::size_t(limit), all.size());
  std::ranges::nth_element(all, all.begin() + std::ptrdiff_t(count), [](const ReadRow& a, const ReadRow& b) {
    return a.arcs != b.arcs ? a.arcs > b.arcs : a.row < b.row;
  });
  std::vector<VertexId> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(all[i].row);
  std::ranges::sort(rows);
  return rows;
}

HistoryRows::HistoryRows(const Owners& owners, Rank rank, std::vector<VertexId> kept,
                         std::span<const std::span<const VertexId>> wanted)
    : owners_(owners),
      rank_(rank),
      first_row_(VertexId(owners.first_row(rank))),
      kept_(std::move(kept)),
      begins_(std::size_t(owners.rows(rank)) + 1, 0) {
  ATOLL_CHECK(std::ranges::is_sorted(kept_) && int(wanted.size()) == owners.ranks(),
              "kept rows aren't in order, or {} ranks of {} keep own rows", wanted.size(), owners.ranks());
  slots_.clear();
  for (std::size_t i = 0; i < kept_.size(); ++i) slots_.find_or_add(kept_[i], VertexId(i));
  for (Rank r = 0; r <= owners.ranks(); ++r) {
    const Index first =
        r == owners.ranks() ? owners.first_row(r - 1) + owners.rows(r - 1) : owners.first_row(r);
    first_slots_.push_back(VertexId(std::ranges::lower_bound(kept_, VertexId(first)) - kept_.begin()));
  }
  for (const auto& of_rank : wanted)
    for (const VertexId row : of_rank) ++begins_[std::size_t(row - first_row_) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  keepers_.resize(std::size_t(begins_.back()));
  std::vector<Index> next(begins_.begin(), begins_.end() - 1);
  for (Rank r = 0; r < owners.ranks(); ++r)
    for (std::size_t i = 0; i < wanted[std::size_t(r)].size(); ++i) {
      Index& at = next[std::size_t(wanted[std::size_t(r)][i] - first_row_)];
      keepers_[std::size_t(at++)] = {r, VertexId(i)};
    }
}

Index HistoryRows::bytes() const {
  const auto of = [](const auto& v) { return Index(v.size() * sizeof(v[0])); };
  // the hash table is at most half full
  return of(kept_) + of(begins_) + of(keepers_) + 4 * Index(sizeof(VertexId)) * slots();
}

std::unique_ptr<HistoryRows> history_rows(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                          Index limit) {
  ThreadPool pool(1);
  std::vector<VertexId> kept = most_read_rows(*mapped_structure(graph, pool), owners, comm.rank(), limit);
  RowRequests requests(owners, comm);
  requests.ask(Traffic::kSetup, kept);
  std::vector<std::span<const VertexId>> wanted;
  for (Rank r = 0; r < comm.size(); ++r) {
    const Index begin = requests.asked_begin()[std::size_t(r)],
                end = requests.asked_begin()[std::size_t(r) + 1];
    wanted.push_back(requests.asked().subspan(std::size_t(begin), std::size_t(end - begin)));
  }
  return std::make_unique<HistoryRows>(owners, comm.rank(), std::move(kept), wanted);
}

void HistoryCut::cut(const HistoryDirectory& known, int layer, const HopDraw& hop,
                     std::span<const VertexId> rows, DrawnArcs& arcs, Leaves& leaves) {
  numbers_.clear();
  factors_.take(Index(rows.size()));
  const bool weighted = arcs.weights.size() > 0;
  Index to = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index begin = std::exchange(arcs.offsets[Index(i)], to), end = arcs.offsets[Index(i) + 1];
    Index loops = 0;
    for (Index e = begin; e < end; ++e) {
      VertexId column = arcs.columns[e];
      if (column == rows[i]) ++loops;
      if (!known.rows().owns(column)) {
        const VertexId slot = known.find(layer, column);
        if (slot < 0) continue;
        const auto next = VertexId(leaves.size()), number = numbers_.find_or_add(slot, next);
        if (number == next) leaves.rows.push(column), leaves.slots.push(slot);
        column = -1 - number;
      }
      arcs.columns[to] = column;
      if (weighted) arcs.weights[to] = arcs.weights[e];
      ++to;
    }
    const NeighbourCounts& neighbours = arcs.neighbours[Index(i)];
    const Index left = to - arcs.offsets[Index(i)] - loops;
    const Index all = Index(neighbours.loops) + Index(neighbours.others) - loops;
    const bool complete = to - arcs.offsets[Index(i)] == end - begin;
    factors_[Index(i)] =
        complete || left == 0 ? neighbours.stands_for(hop) : float(double(all) / double(left));
  }
  arcs.offsets[Index(rows.size())] = to;
  arcs.columns.extend(to);
  if (weighted) arcs.weights.extend(to);
}

}  // namespace atl
