#include "sampler/pairs/pair_draws.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "sampler/draw_positions.h"

namespace atl {
namespace {

enum Stream : std::uint64_t { kSources, kDestinations };

/// A uniform number in 0 … below − 1.
VertexId number_below(std::uint64_t bits, Index below) {
  return VertexId((bits >> 32) * std::uint64_t(below) >> 32);
}

}  // namespace

void PairDraws::draw(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs) {
  const Index negatives = begin(step, Index(edges.size()), all_edges, pairs);
  for (const VertexId number : edges) {
    const RowPair& edge = graph_.edges()[std::size_t(number)];
    pairs.add(edge.source, edge.destination);
  }
  draw_negatives(step, negatives, pairs);
}

void PairDraws::draw_all(std::int64_t step, StepPairs& pairs) {
  const Index negatives = begin(step, Index(graph_.edges().size()), graph_.all_edges(), pairs);
  for (const RowPair& edge : graph_.edges()) pairs.add(edge.source, edge.destination);
  draw_negatives(step, negatives, pairs);
}

/// Makes room for own edges and negative pairs; returns the number of negative pairs over all ranks.
Index PairDraws::begin(std::int64_t step, Index edges, Index all_edges, StepPairs& pairs) {
  const Index negatives = all_edges * negatives_, each = negatives / graph_.vertices();
  draw_sources(step, negatives % graph_.vertices());
  pairs.clear();
  pairs.reserve(edges + each * graph_.owners().rows(graph_.rank()) + Index(sources_.size()));
  pairs.edges = edges;
  pairs.total = double(all_edges + negatives);
  return negatives;
}

/// Lists the own vertices that get one more negative pair. Over all ranks, `more` vertices do. If these are
/// few, looks each of them up; otherwise checks each own vertex.
void PairDraws::draw_sources(std::int64_t step, Index more) {
  const Owners& owners = graph_.owners();
  const auto first = VertexId(owners.first_row(graph_.rank())), own = VertexId(owners.rows(graph_.rank()));
  const KeyedOrder order(std::uint64_t(graph_.vertices()),
                         Draws(seed_, Purpose::kNegative, std::uint64_t(step), kSources).key());
  sources_.clear();
  if (more <= own) {
    for (Index place = 0; place < more; ++place) {
      const VertexId row = graph_.row_of(VertexId(order.at(std::uint64_t(place))));
      if (owners.owns(graph_.rank(), row)) sources_.push_back(row);
    }
    std::ranges::sort(sources_);
  } else {
    for (VertexId row = first; row < first + own; ++row)
      if (order.place_of(std::uint64_t(graph_.id_of(row))) < std::uint64_t(more)) sources_.push_back(row);
  }
}

void PairDraws::draw_negatives(std::int64_t step, Index count, StepPairs& pairs) const {
  const Index each = count / graph_.vertices();
  const auto first = VertexId(graph_.owners().first_row(graph_.rank())),
             own = VertexId(graph_.owners().rows(graph_.rank()));
  for (VertexId row = first; each > 0 && row < first + own; ++row)
    for (Index number = 0; number < each; ++number)
      pairs.add(row, destination(step, row, std::uint64_t(number)));
  for (const VertexId row : sources_) pairs.add(row, destination(step, row, std::uint64_t(each)));
}

/// Tries some draws. If all of them hit an edge, takes the next vertex, counted from the last draw, that no
/// edge joins with the source. If edges join all vertices with the source, takes any vertex.
VertexId PairDraws::destination(std::int64_t step, VertexId source_row, std::uint64_t number) const {
  constexpr std::uint64_t kTries = 16;
  const Draws draws(seed_, Purpose::kNegative, std::uint64_t(step), kDestinations);
  const VertexId source = graph_.id_of(source_row);
  const auto is_negative = [&](VertexId vertex) {
    return vertex != source && !graph_.is_known(source_row, vertex);
  };
  VertexId vertex = 0;
  for (std::uint64_t t = 0; t < kTries; ++t) {
    vertex = number_below(draws.bits64_at(std::uint64_t(source), number * kTries + t), graph_.vertices());
    if (is_negative(vertex)) return graph_.row_of(vertex);
  }
  for (Index i = 0; i < graph_.vertices() && !is_negative(vertex); ++i)
    vertex = VertexId((Index(vertex) + 1) % graph_.vertices());
  return graph_.row_of(vertex);
}

void PairEnds::of_step(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs,
                       std::vector<VertexId>& rows) {
  draws_.draw(step, edges, all_edges, pairs);
  collect_ends(
      pairs, [](VertexId) { return true; }, wanted_);
  if (comm_.size() == 1) return rows.assign(wanted_.begin(), wanted_.end());
  requests_.ask(Traffic::kPair, wanted_);
  rows.assign(requests_.asked().begin(), requests_.asked().end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

}  // namespace atl
