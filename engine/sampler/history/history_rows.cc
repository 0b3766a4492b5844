#include "sampler/history/history_rows.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "sampler/row_requests.h"

namespace atl {
namespace {

constexpr Index kPiece = 16384;  // rows whose arcs are looked at together

struct ReadRow {
  VertexId row;
  Index arcs;
};

/// Each row once, with how often it stands there.
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
  for (Index begin = owners.first_row(rank); begin < end; begin += kPiece) {
    own.resize(std::size_t(std::min(kPiece, end - begin)));
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
  return of(kept_) + of(begins_) + of(keepers_) + 4 * Index(sizeof(VertexId)) * slots();  // at most half full
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

}  // namespace atl
