#include "plan/pair_sizes.h"

#include <algorithm>

#include "train/links/link_task.h"

namespace atl {

PairTally::PairTally(const Owners& owners) : owners_(owners), sizes_(std::size_t(owners.ranks())) {
  wanted_.rows.assign(sizes_.size(), std::vector<Index>(sizes_.size(), 0));
}

void PairTally::add_graph(const PairGraph& graph, int negatives) {
  PairSizes& of = sizes_[std::size_t(graph.rank())];
  of.rows = owners_.rows(graph.rank()), of.vertices = graph.vertices();
  of.edges = Index(graph.edges().size());
  of.graph = graph.bytes();
  of.drawn = double(graph.all_edges()) * negatives * double(of.rows) / double(of.vertices);
  of.epoch = double(of.edges) + of.drawn;
}

std::vector<VertexId> PairTally::enter(Rank rank, const StepPairs& pairs, PairSizes::Step PairSizes::*most) {
  PairSizes::Step& step = sizes_[std::size_t(rank)].*most;
  Index remote = 0, wanted = 0;
  for (const auto& side : {pairs.sources.span(), pairs.destinations.span()})
    for (const VertexId row : side) remote += owners_.owns(rank, row) ? 0 : 1;
  std::vector<VertexId> ends;
  collect_ends(
      pairs, [](VertexId) { return true; }, ends);
  std::vector<Index>& of_owners = wanted_.rows[std::size_t(rank)];
  std::ranges::fill(of_owners, 0);
  for (const VertexId row : ends)
    if (const Rank owner = owners_.owner_of(row); owner != rank) ++of_owners[std::size_t(owner)], ++wanted;
  step.pairs = std::max(step.pairs, pairs.size());
  step.ends = std::max(step.ends, Index(ends.size()));
  step.remote = std::max(step.remote, remote);
  step.wanted = std::max(step.wanted, wanted);
  return ends;
}

void PairTally::enter_asked(PairSizes::Step PairSizes::*most) {
  for (std::size_t owner = 0; owner < sizes_.size(); ++owner) {
    Index asked = 0;
    for (const std::vector<Index>& of_owners : wanted_.rows) asked += of_owners[owner];
    PairSizes::Step& step = sizes_[owner].*most;
    step.asked = std::max(step.asked, asked);
  }
}

std::vector<VertexId> PairTally::add_step(Rank rank, const StepPairs& pairs) {
  return enter(rank, pairs, &PairSizes::training);
}

void PairTally::end_step() {
  enter_asked(&PairSizes::training);
}

void PairTally::add_measured(const Dataset& dataset, std::span<const VertexId> row_of) {
  for (PairSizes& of : sizes_)
    for (int set = 0; set < kPairSets; ++set)
      of.files += dataset.pairs(PairSet(set)).rows * 2 * Index(sizeof(VertexId));
  using Sets = std::pair<PairSet, PairSet>;
  for (const auto& [edges, negatives] : {Sets(PairSet::kValidation, PairSet::kValidationNegative),
                                         Sets(PairSet::kTest, PairSet::kTestNegative)}) {
    std::vector<StepPairs> by_rank(sizes_.size());
    for (const PairSet set : {edges, negatives}) {
      const View<const VertexId> pairs = dataset.pairs(set);
      for (Index i = 0; i < pairs.rows; ++i) {
        const VertexId source = row_of[std::size_t(pairs.at(i, 0))];
        by_rank[std::size_t(owners_.owner_of(source))].add(source, row_of[std::size_t(pairs.at(i, 1))]);
      }
    }
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
      PairSizes& of = sizes_[rank];
      of.measured += by_rank[rank].size();
      of.scored = std::max(of.scored, by_rank[rank].size());
      of.all_edges = std::max(of.all_edges, dataset.pairs(edges).rows);
      of.all_negatives = std::max(of.all_negatives, dataset.pairs(negatives).rows);
      of.sets += dataset.pairs(edges).rows > 0 ? 1 : 0;
    }
    score(by_rank);
  }
}

/// Slab by slab, as LinkTask::score().
void PairTally::score(const std::vector<StepPairs>& by_rank) {
  Index most = 0;
  for (const StepPairs& each : by_rank) most = std::max(most, each.size());
  StepPairs slab;
  for (Index begin = 0; begin < most; begin += kScoredPairs) {
    for (Rank rank = 0; rank < owners_.ranks(); ++rank) {
      const StepPairs& all = by_rank[std::size_t(rank)];
      slab.clear();
      for (Index i = begin; i < std::min(begin + kScoredPairs, all.size()); ++i)
        slab.add(all.sources[i], all.destinations[i]);
      enter(rank, slab, &PairSizes::scoring);
    }
    enter_asked(&PairSizes::scoring);
    for (PairSizes& of : sizes_) ++of.pieces;
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank)
      for (std::size_t other = 0; other < sizes_.size(); ++other) {
        sizes_[rank].wanted_in_all += double(wanted_.rows[rank][other]);
        sizes_[rank].asked_in_all += double(wanted_.rows[other][rank]);
      }
  }
}

}  // namespace atl
