#include "sampler/history/history_pushes.h"

#include <algorithm>

namespace atl {
namespace {

void set_begins(PushedRows& rows, int ranks, int layers) {
  rows.begins.resize(std::size_t(ranks) + 1);
  rows.begins[0] = 0;
  for (std::size_t r = 0; r < std::size_t(ranks); ++r)
    rows.begins[r + 1] = rows.begins[r] + rows.counts[r * std::size_t(layers)];
}

Message message(Rank peer, VertexId* rows, const PushedRows& of) {
  const Index begin = of.begins[std::size_t(peer)], count = of.begins[std::size_t(peer) + 1] - begin;
  if (count == 0) return {peer, nullptr, 0};
  return {peer, reinterpret_cast<std::byte*>(rows + begin), count * Index(sizeof(VertexId))};
}

}  // namespace

/// A batch begins with the rows that it computes, and these begin with the rows that deeper layers compute.
/// So for each layer, the first rows of a peer's list are pushed.
void list_pushed(const HistoryRows& rows, const Batch& batch, int layers, PushedRows& leaving,
                 Reusable<VertexId>& places) {
  const auto ranks = std::size_t(rows.ranks()), inner = std::size_t(layers);
  const auto computed = batch.rows().first(std::size_t(batch.output_rows(0)));
  leaving.counts.assign(ranks * inner, 0);
  for (std::size_t row = 0; row < computed.size(); ++row)
    for (const HistoryRows::Keeper& keeper : rows.keepers_of(computed[row]))
      for (std::size_t i = 0; i < inner && Index(row) < batch.output_rows(int(i)); ++i)
        ++leaving.counts[std::size_t(keeper.rank) * inner + i];
  set_begins(leaving, rows.ranks(), layers);
  leaving.rows.take(leaving.begins.back()), places.take(leaving.begins.back());
  for (std::size_t row = 0; row < computed.size(); ++row)
    for (const HistoryRows::Keeper& keeper : rows.keepers_of(computed[row])) {
      const Index at = leaving.begins[std::size_t(keeper.rank)]++;
      leaving.rows[at] = VertexId(row), places[at] = keeper.place;
    }
  set_begins(leaving, rows.ranks(), layers);
}

HistoryPushes::HistoryPushes(const HistoryRows& rows, const HistoryOptions& options, Communicator& comm)
    : comm_(comm), directory_(rows, options) {
  places_.reserve(rows.kept_by_others());
}

void HistoryPushes::exchange(const Batch& batch, StepPushes& into) {
  into.make_room(directory_.rows());
  list_pushed(directory_.rows(), batch, directory_.options().layers, into.leaving, places_);
  into.arriving.counts.assign(into.leaving.counts.size(), 0);
  exchange_counts(into);
  exchange_places(into);
  directory_.add(into.arriving);
}

void HistoryPushes::exchange_counts(StepPushes& step) {
  const auto layers = std::size_t(directory_.options().layers);
  const auto part = [&](std::vector<Index>& counts, Rank peer) -> Message {
    return {peer, reinterpret_cast<std::byte*>(&counts[std::size_t(peer) * layers]),
            Index(layers * sizeof(Index))};
  };
  sends_.clear(), receives_.clear();
  for (Rank peer = 0; peer < comm_.size(); ++peer) {
    if (peer == comm_.rank()) continue;
    sends_.push_back(part(step.leaving.counts, peer));
    receives_.push_back(part(step.arriving.counts, peer));
  }
  swap();
}

/// Sends places among the keeper's rows; the receiver turns them into slots.
void HistoryPushes::exchange_places(StepPushes& step) {
  PushedRows& arriving = step.arriving;
  set_begins(arriving, comm_.size(), directory_.options().layers);
  arriving.rows.take(arriving.begins.back());
  sends_.clear(), receives_.clear();
  for (Rank peer = 0; peer < comm_.size(); ++peer) {
    if (peer == comm_.rank()) continue;
    sends_.push_back(message(peer, places_.data(), step.leaving));
    receives_.push_back(message(peer, arriving.rows.data(), arriving));
  }
  swap();
  const auto first = directory_.rows().first_slots();
  for (std::size_t peer = 0; peer < std::size_t(comm_.size()); ++peer)
    for (Index i = arriving.begins[peer]; i < arriving.begins[peer + 1]; ++i) arriving.rows[i] += first[peer];
}

void HistoryPushes::swap() {
  comm_.exchange(Lane::kPrefetch, Traffic::kIds, sends_, receives_).wait();
}

}  // namespace atl
