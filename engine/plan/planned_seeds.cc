#include "plan/planned_seeds.h"

#include <algorithm>
#include <utility>

#include "plan/dry_step.h"
#include "train/labels.h"

namespace atl {
namespace {

std::vector<VertexId> rows_by_vertex(std::span<const VertexId> ids) {
  std::vector<VertexId> rows(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row) rows[std::size_t(ids[row])] = VertexId(row);
  return rows;
}

void sort_once(std::vector<VertexId>& rows) {
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

}  // namespace

PlannedSeeds::PlannedSeeds(const Job& job, const Dataset& dataset, const BatchSource& source,
                           const Owners& owners)
    : owners_(owners), ends_(std::size_t(owners.ranks())), counts_(owners) {
  const bool links = job.task == Task::kLinkPrediction;
  VertexMarks marks;
  if (links)
    row_of_ = rows_by_vertex(source.ids());
  else
    marks = loss_marks(dataset, job);
  std::vector<TrainingRows> own;
  by_part_.resize(std::size_t(owners.parts()));
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    if (links)
      graphs_.push_back(
          std::make_unique<PairGraph>(dataset, row_of_, source.ids(), source.part_offsets(), owners, rank));
    own.push_back(links ? graphs_.back()->numbers()
                        : training_rows(source.part_offsets(), source.ids(), owners, rank,
                                        [&](VertexId id) { return marks[id]; }));
    for (std::size_t i = 0; i < own.back().by_part.size(); ++i)
      by_part_[std::size_t(own.back().first_part) + i] = Index(own.back().by_part[i].size());
  }
  const Index batch_size = job.strategy.options.integer("batchSize");
  for (TrainingRows& rows : own) {
    if (!links) training_.by_part.insert(training_.by_part.end(), rows.by_part.begin(), rows.by_part.end());
    seeds_.emplace_back(by_part_, std::move(rows), batch_size, job.training.seed);
  }
  for (const auto& graph : graphs_) {
    draws_.emplace_back(*graph, job.links.negatives, job.training.seed);
    counts_.add_graph(*graph, job.links.negatives);
  }
  if (links) counts_.add_measured(dataset, row_of_);
}

void PlannedSeeds::draw_pairs(std::int64_t step) {
  if (std::exchange(drawn_, step) == step) return;
  for (auto& each : ends_) each.clear();
  StepPairs pairs;
  std::vector<VertexId> edges;
  for (Rank rank = 0; rank < Rank(graphs_.size()); ++rank) {
    seeds_[std::size_t(rank)].of_step(step, edges);
    draws_[std::size_t(rank)].draw(step, edges, Index(seeds_[std::size_t(rank)].size(step)), pairs);
    for (const VertexId row : counts_.add_step(rank, pairs))
      ends_[std::size_t(owners_.owner_of(row))].push_back(row);
  }
  if (!graphs_.empty()) counts_.end_step();
  for (auto& each : ends_) sort_once(each);
}

void PlannedSeeds::of_step(std::int64_t step, Rank rank, std::vector<VertexId>& rows) {
  if (graphs_.empty()) return seeds_[std::size_t(rank)].of_step(step, rows);
  draw_pairs(step);
  rows = ends_[std::size_t(rank)];
}

const WantedRows& PlannedSeeds::wanted(std::int64_t step) {
  if (!graphs_.empty()) draw_pairs(step);
  return counts_.wanted();
}

PairBytesSent pair_bytes(const WantedRows& wanted, Rank from, Rank to, Index width) {
  const double row = double(width) * sizeof(Real);
  const auto asked = double(wanted.rows[std::size_t(from)][std::size_t(to)]),
             given = double(wanted.rows[std::size_t(to)][std::size_t(from)]);
  return {8 + asked * sizeof(VertexId) + given * row, asked * row};
}

void enter_pairs(const PairBytesSent& sent, bool between, DryRun& run) {
  for (const auto& [purpose, bytes] :
       {std::pair(Traffic::kPair, sent.rows), std::pair(Traffic::kPairGradient, sent.gradients)}) {
    run.epoch[std::size_t(purpose)] += std::int64_t(bytes);
    if (between) run.epoch_between[std::size_t(purpose)] += std::int64_t(bytes);
  }
}

PartPairs pairs_of_parts(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                         const PartRanks& ranks) {
  const Owners owners(prepared.part_offsets(), ranks);
  PairTally counts(owners);
  counts.add_measured(dataset, prepared.rows());
  StepPairs pairs;
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    const PairGraph graph(dataset, prepared.rows(), prepared.ids(), prepared.part_offsets(), owners, rank);
    PairDraws(graph, job.links.negatives, job.training.seed).draw_all(0, pairs);
    counts.add_graph(graph, job.links.negatives);
    counts.add_step(rank, pairs);
  }
  counts.end_step();
  return {counts.wanted(), counts.by_rank()};
}

PlannedSets::PlannedSets(const BatchSource& source, const BatchSamplingOptions& options,
                         const TrainingRows& training, const std::vector<Index>& training_by_part)
    : owner_(source.part_offsets(), 1),
      comm_(make_dry_transport(0, {"here"})),
      structure_(source.structure(pool_)),
      training_(training),
      all_(training_by_part, training, options.batch_size, options.sampling.seed) {
  const SamplingOptions& sampling = options.sampling;
  sets_ = options.sets({.own_rows = *structure_,
                        .owners = owner_,
                        .comm = comm_,
                        .ids = source.ids(),
                        .training = training_,
                        .training_by_part = training_by_part,
                        .layers = int(sampling.fanout.size()),
                        .normalisation = sampling.normalisation,
                        .attention = sampling.attention,
                        .seed = sampling.seed,
                        .options = options.set_options});
}

void PlannedSets::draw(std::int64_t step, std::span<const VertexId>) {
  if (sets_->seeds() == nullptr) all_.of_step(step, rows_);
  sets_->draw(step, rows_);
}

void OwnSeeds::of_step(std::int64_t step, std::vector<VertexId>& rows) {
  all_.of_step(step, rows);
  std::erase_if(rows, [&](VertexId row) { return !owners_.owns(rank_, row); });
}

}  // namespace atl
