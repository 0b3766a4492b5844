#include "plan/planned_history.h"

#include <algorithm>

namespace atl {

PlannedHistory::PlannedHistory(const BatchSource& source, const Owners& owners, const HistoryOptions& options)
    : options_(options), noted_(std::size_t(owners.ranks())) {
  ThreadPool pool(1);
  const auto graph = source.structure(pool);
  std::vector<std::vector<VertexId>> kept;
  for (Rank rank = 0; rank < owners.ranks(); ++rank)
    kept.push_back(most_read_rows(*graph, owners, rank, options.rows));
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    std::vector<std::span<const VertexId>> wanted;
    const auto first = VertexId(owners.first_row(rank)), end = VertexId(first + owners.rows(rank));
    for (const auto& of : kept)
      wanted.emplace_back(std::ranges::lower_bound(of, first), std::ranges::lower_bound(of, end));
    rows_.push_back(std::make_unique<HistoryRows>(owners, rank, kept[std::size_t(rank)], wanted));
  }
}

void PlannedHistory::note(Rank rank, const Batch& batch) {
  list_pushed(rows(rank), batch, options_.layers, leaving_, places_);
  const auto places = places_.span();
  noted_[std::size_t(rank)].push_back({{places.begin(), places.end()}, leaving_.begins, leaving_.counts});
}

void PlannedHistory::pushes(Rank rank, std::int64_t step, const Batch& batch, StepPushes& into) {
  into.make_room(rows(rank));
  list_pushed(rows(rank), batch, options_.layers, into.leaving, places_);
  const auto layers = std::size_t(options_.layers), at = std::size_t(rank);
  PushedRows& arriving = into.arriving;
  arriving.rows.take(0);
  arriving.begins.assign(1, 0), arriving.counts.clear();
  for (std::size_t peer = 0; peer < noted_.size(); ++peer) {
    const Noted& from = noted_[peer][std::size_t(step)];
    for (Index i = from.begins[at]; i < from.begins[at + 1]; ++i)
      arriving.rows.push(from.places[std::size_t(i)] + rows(rank).first_slots()[peer]);
    arriving.begins.push_back(arriving.rows.size());
    for (std::size_t layer = 0; layer < layers; ++layer)
      arriving.counts.push_back(from.counts[at * layers + layer]);
  }
}

}  // namespace atl
