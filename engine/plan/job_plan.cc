#include "plan/job_plan.h"

#include <algorithm>
#include <numeric>

#include "job/samplers.h"
#include "job/strategies.h"
#include "plan/dry_batches.h"
#include "plan/dry_run.h"
#include "plan/memory.h"
#include "plan/planned_seeds.h"
#include "plan/strategy_plan.h"
#include "plan/traffic.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Owned vertices in any split.
Index labelled(const ScoredRows& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

Index rows_of(const PreparedGraph& prepared, int part) {
  return prepared.part_offsets()[std::size_t(part) + 1] - prepared.part_offsets()[std::size_t(part)];
}

double total(const TrafficBytes& bytes) {
  return double(std::accumulate(bytes.begin(), bytes.end(), std::int64_t(0)));
}

/// The part that a rank's evaluation sees, and the counts that the rank's metrics need.
struct Seen {
  const RankShape& whole;
  const PairSizes& pairs;
  const ScoredRows& scored;
};

/// Bytes that the rank sends for an evaluation's metrics.
std::int64_t sent_for_metric(const Job& job, const DatasetMeta& meta, Rank rank, const Seen& seen) {
  const int ranks = job.placement.ranks;
  return job.task == Task::kLinkPrediction ? pair_metric_bytes(job, ranks, rank, seen.pairs)
                                           : metric_bytes(job, meta, ranks, rank, seen.scored);
}

/// Enters the figures that follow from a rank's dry run and its work.
void enter(const Job& job, const DatasetMeta& meta, const DryRun& dry, const Seen& seen, const Model& model,
           const PlanOptions& options, RankPlan& plan) {
  plan.work += pair_work(job, seen.pairs);
  plan.epoch = dry.epoch;
  plan.epoch_between = dry.epoch_between;
  plan.evaluation = dry.evaluation;
  plan.evaluation[std::size_t(Traffic::kEvaluation)] += sent_for_metric(job, meta, plan.shape.rank, seen);
  plan.compute_seconds = seconds_of(plan.work, options.rates);
  plan.communication_seconds = total(plan.epoch) / options.link_bytes;
  const bool at_once = job.strategy.row->hides_communication(job.strategy.options);
  plan.epoch_seconds = at_once ? std::max(plan.compute_seconds, plan.communication_seconds)
                               : plan.compute_seconds + plan.communication_seconds;
  EpochWork evaluation = evaluation_work(model, seen.whole);
  evaluation += scoring_work(job, seen.pairs, plan.shape.rank == 0);
  plan.evaluation_seconds =
      seconds_of(evaluation, options.rates) + total(plan.evaluation) / options.link_bytes;
}

/// Adds bytes of link prediction's pairs.
void add_pairs(const Job& job, const WantedRows& wanted, Rank rank, const std::vector<std::string>& hosts,
               DryRun& dry) {
  for (Rank to = 0; to < Rank(wanted.rows.size()); ++to)
    if (to != rank)
      enter_pairs(pair_bytes(wanted, rank, to, job.model.hidden),
                  !hosts.empty() && hosts[std::size_t(rank)] != hosts[std::size_t(to)], dry);
}

RankPlan plan_rank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                   const PlanOptions& options, const PartPairs& pairs, DryInputs& inputs, Rank rank) {
  const int part = inputs.share(rank).ranks.part_of(rank);
  const DryRunInput in = inputs.of(rank);
  const DatasetMeta& meta = dataset.meta();
  const Model model = planned_model(job, in.features, in.classes);
  DryRun dry = dry_run(in);
  add_pairs(job, pairs.wanted, rank, in.hosts, dry);
  const PairSizes of_pairs = pairs.sizes.empty() ? PairSizes{} : pairs.sizes[std::size_t(rank)];
  const auto owned = prepared.ids().subspan(std::size_t(prepared.part_offsets()[std::size_t(part)]),
                                            std::size_t(rows_of(prepared, part)));
  ScoredRows scored{};
  if (job.task != Task::kLinkPrediction) scored = split_counts(job, dataset, owned);
  RankPlan plan;
  plan.shape = in.training;
  plan.memory = rank_memory({in, dry, model,
                             mapped_bytes(job, dataset, prepared, part, model.layers.front()->spec().gathers),
                             meta.weighted, !dataset.original_ids().empty(), meta.vertices, labelled(scored),
                             pair_memory(job, of_pairs, {rank, in.training.ranks, in.threads, false})});
  const bool recompute = job.training.recompute == Recompute::kLayer;
  if (in.batches.empty()) plan.work = epoch_work(model, in.training, recompute);
  for (const RankShape& batch : in.batches) plan.work += epoch_work(model, batch, recompute);
  const RankShape& whole = in.full ? *in.full : in.training;
  enter(job, meta, dry, {whole, of_pairs, whole.answers ? scored : ScoredRows{}}, model, options, plan);
  return plan;
}

/// Plans a rank that trains on batches.
RankPlan plan_batches(const Job& job, const Dataset& dataset, const PlanOptions& options,
                      const DryBatches& dry, Rank rank) {
  const DatasetMeta& meta = dataset.meta();
  RankPlan plan;
  plan.shape.rank = rank;
  plan.shape.ranks = job.placement.ranks;
  plan.shape.owned = dry.owned;
  plan.shape.own_arcs = dry.arcs;
  plan.shape.batches = true;
  if (columns_of(job, rank, meta.features)) plan.shape.column_rows = meta.vertices;
  const DryRunInput in{job,
                       features_on(job, rank, feature_shape(job, meta)),
                       meta.classes,
                       meta.multi_label,
                       double(meta.vertices),
                       options.threads,
                       plan.shape,
                       {},
                       {},
                       {},
                       options.hosts};
  const Model model = planned_model(job, in.features, in.classes);
  plan.memory = rank_memory(
      {in, dry.run, model, 0, meta.weighted, !dataset.original_ids().empty(), meta.vertices, dry.owned,
       pair_memory(job, dry.pairs, {rank, job.placement.ranks, options.threads, true})});
  plan.memory.pages = dry.pages;
  if (!sums_folder(job).empty()) plan.memory.file = dry.sums;
  plan.work = dry.work;
  const Seen seen{plan.shape, dry.pairs, dry.scored};
  enter(job, meta, dry.run, seen, model, options, plan);
  plan.evaluation_parts = dry.evaluation;
  plan.evaluation_parts[std::size_t(EvaluationPart::kMetric)] = sent_for_metric(job, meta, rank, seen);
  return plan;
}

/// Rank 0 writes the checkpoints: the states of other ranks come to it one at a time
/// (train/checkpoint/run_state.h).
void add_checkpoints(std::vector<RankPlan>& ranks) {
  Index largest = 0;
  for (const RankPlan& each : std::span(ranks).subspan(1)) largest = std::max(largest, each.memory.state);
  ranks.front().memory.checkpoint += largest;
}

void add_up(const Job& job, JobPlan& plan) {
  const int epochs = job.training.epochs, every = job.training.evaluate_every;
  // A run evaluates its last epoch if it evaluates no other.
  const int evaluations = every > 0 ? std::max(1, epochs / every) : 1;
  plan.total_seconds = plan.epoch_seconds * epochs + plan.evaluation_seconds * evaluations;
}

/// Joins the plans of all ranks.
JobPlan joined(const PlanOptions& options, PlannedFrom from, std::vector<RankPlan> ranks,
               const SectionInput& of) {
  JobPlan plan;
  plan.from = from;
  plan.ranks = std::move(ranks);
  plan.rates = options.rates;
  plan.link_bytes = options.link_bytes;
  plan.threads = options.threads;
  for (const RankPlan& rank : plan.ranks) {
    plan.epoch_seconds = std::max(plan.epoch_seconds, rank.epoch_seconds);
    plan.evaluation_seconds = std::max(plan.evaluation_seconds, rank.evaluation_seconds);
    for (std::size_t p = 0; p < plan.epoch.size(); ++p) {
      plan.epoch[p] += rank.epoch[p];
      plan.epoch_between[p] += rank.epoch_between[p];
      plan.evaluation[p] += rank.evaluation[p];
    }
    for (std::size_t p = 0; p < plan.evaluation_parts.size(); ++p)
      plan.evaluation_parts[p] += rank.evaluation_parts[p];
  }
  add_checkpoints(plan.ranks);
  if (const auto section = strategy_plan_of(of.job).section; section != nullptr)
    plan.section = section(of, plan);
  add_up(of.job, plan);
  return plan;
}

/// The share of the gradient's elements that belongs to weights with a row per feature.
double wide_weight(const Model& model) {
  const auto by_layer = model.parameters();
  double wide = 0, all = 0;
  for (std::size_t l = 0; l < by_layer.size(); ++l)
    for (const ParameterSpec& spec : by_layer[l]) {
      if (!spec.trainable) continue;
      all += double(spec.rows * spec.cols);
      if (l == std::size_t(model.constant_prefix()) && spec.input_blocks > 0)
        wide += double(spec.rows * spec.cols);
    }
  return all > 0 ? wide / all : 0;
}

JobPlan plan_all_batches(const Job& job, const Dataset& dataset, PlannedFrom from, const BatchSource& source,
                         const PlanOptions& options) {
  const DatasetMeta& meta = dataset.meta();
  const auto dry = dry_batches(job, dataset, source, options.threads, options.hosts);
  std::vector<RankPlan> ranks;
  for (const DryBatches& each : dry)
    ranks.push_back(plan_batches(job, dataset, options, each, Rank(ranks.size())));
  JobPlan plan = joined(options, from, std::move(ranks), {job, meta, dry});
  plan.steps = std::max<std::int64_t>(1, dry.front().steps);
  if (!columns_of(job, 0, meta.features))
    plan.wide_weight = wide_weight(planned_model(job, feature_shape(job, meta), meta.classes));
  return plan;
}

}  // namespace

JobPlan plan_job(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                 const PlanOptions& options) {
  if (strategy_of(job).holds == Holds::kBatches)
    return plan_all_batches(job, dataset, PlannedFrom::kPrepared, *batch_source(job, prepared), options);
  std::vector<RankPlan> ranks;
  DryInputs inputs(job, dataset, prepared, rank_traffic(job, dataset, prepared).parts, options.threads,
                   options.hosts);
  PartPairs pairs;
  if (job.task == Task::kLinkPrediction)
    pairs = pairs_of_parts(job, dataset, prepared, inputs.share(0).ranks);
  for (Rank r = 0; r < Rank(inputs.ranks()); ++r)
    ranks.push_back(plan_rank(job, dataset, prepared, options, pairs, inputs, r));
  JobPlan plan = joined(options, PlannedFrom::kPrepared, std::move(ranks), {job, dataset.meta(), {}});
  plan.most_batches = inputs.most_batches();
  plan.steps = std::max(1, server_batches_of(job));
  return plan;
}

JobPlan plan_job(const Job& job, const Dataset& dataset, const PlanOptions& options) {
  ATOLL_CHECK(strategy_of(job).holds == Holds::kBatches, "strategy {} needs a prepared graph",
              job.strategy.row->kind);
  const PlannedFrom from = assumes_parts(job) ? PlannedFrom::kAssumedParts : PlannedFrom::kDataset;
  return plan_all_batches(job, dataset, from, *batch_source(job, dataset), options);
}

void enter_simulated(const Job& job, double epoch_seconds, const std::string& topology, JobPlan& plan) {
  plan.evaluation_seconds *= epoch_seconds / plan.epoch_seconds;
  plan.epoch_seconds = epoch_seconds;
  plan.simulated_on = topology;
  add_up(job, plan);
}

}  // namespace atl
