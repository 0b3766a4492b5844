#include "train/rank_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "job/samplers.h"
#include "job/strategies.h"
#include "model/model.h"
#include "partition/server_graph.h"
#include "sampler/structure.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

/// Halo rows' features are unused where the first layer reads only a vertex's own row.
bool reads_halo_features(const Job& job, const DatasetMeta& meta, const DataUse& use) {
  if (meta.features == 0) fail("{}: has no features, and a model needs them", meta.name);
  return job_model(job, feature_shape(meta, use.form), use.classes).layers.front()->spec().gathers;
}

}  // namespace

PartitionOptions partition_options(const Job& job, int ranks) {
  const PartitionerSpec& p = job.placement.partitioner;
  const JobDivision division = job.strategy.row->division(job);
  const int parts = division.parts == 0 ? std::max({ranks, p.parts, default_parts(job)}) : division.parts;
  return {.kind = p.kind,
          .parts = parts,
          .seed = p.seed,
          .objective = p.objective,
          .groups = parts == job.placement.ranks ? division.servers : 1,
          .slices = std::max(1, division.slices)};
}

GraphTransforms graph_transforms(const Job& job) {
  using Loops = GraphTransforms::SelfLoops;
  const SelfLoops wanted = self_loops_of(job);
  GraphTransforms t;
  t.symmetrise = job.dataset.symmetrise;
  t.self_loops = wanted == SelfLoops::kAdd      ? Loops::kAdd
                 : wanted == SelfLoops::kRemove ? Loops::kRemove
                                                : Loops::kKeep;
  t.rows = job.task == Task::kLinkPrediction;
  t.induced = job.training.setting == Setting::kInductive;
  const StrategyInfo& strategy = *job.strategy.row;
  t.by_id = strategy.draws_neighbours != nullptr && strategy.draws_neighbours(job);
  return t;
}

RankData::RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& ranks)
    : RankData(job, dataset, prepared, rank, ranks,
               {dataset.meta().classes, kept_form(job, dataset.meta()), dataset.meta().classes > 0, true}) {}

RankData::RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& ranks, const DataUse& use)
    : share_(data_share_of(job, rank, ranks)),
      features_(features_on(job, rank, feature_shape(dataset.meta(), use.form))),
      classes_(use.classes),
      vertices_(double(dataset.meta().vertices)) {
  const bool halo_features = reads_halo_features(job, dataset.meta(), use);
  const bool batches = strategy_of(job).holds == Holds::kBatches;
  if (batches)
    batches_ = std::make_unique<BatchData>(job, dataset, prepared, rank, ranks, use.form);
  else
    full_ = std::make_unique<PartData>(job, dataset, prepared, rank, share_, VertexMarks(), use.form,
                                       halo_features);
  if (share_.answers) owned_ids_ = batches ? batches_->owned_ids() : full_->owned_ids();
  labels_ = read_labels(job, dataset, use, owned_ids_);
  if (job.task == Task::kLinkPrediction)
    links_ = std::make_unique<LinkData>(job, dataset, prepared, rank, share_.ranks, batches);
  else
    read_splits(dataset, job, use.by_split);
  if (batches && links_) batches_->trains_on(links_->graph());
  if (batches && !links_) batches_->trains_on(train.rows);
  const bool inductive = !batches && job.training.setting == Setting::kInductive;
  if (use.trains && (inductive || share_.server))
    read_training_part(job, dataset, prepared, use, halo_features);
  view();
}

void RankData::read_training_part(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                  const DataUse& use, bool halo_features) {
  if (share_.server) {
    shares_ = std::make_unique<ServerParts>(
        ShareSource{job, dataset, prepared, *share_.server, *full_, use, halo_features});
    training_ = shares_->take(1, 0, {});
    return;
  }
  const VertexMarks marks = training_marks(dataset, job);
  training_ = std::make_unique<TrainingPart>();
  training_->data = std::make_unique<PartData>(job, dataset, prepared, full_->graph().rank, share_, marks,
                                               use.form, halo_features);
  if (share_.answers) training_->read_labels(job, dataset, use, marks);
}

void RankData::take(Context& ctx, Index epoch, int batch, const std::vector<int>& cpus) {
  training_.reset();  // two parts at once would take more memory than planned
  training_ = shares_->take(epoch, batch, cpus);
  training_->place(ctx, false);
}

void RankData::read_splits(const Dataset& dataset, const Job& job, bool by_split) {
  View<const std::uint8_t> split;
  if (by_split) split = dataset.split(job.dataset.split);
  const std::span<const VertexId> ids = owned_ids_;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!labels_.has(i)) continue;
    switch (by_split ? Split(split.at(ids[i], job.dataset.split_column)) : Split::kTest) {
      case Split::kTrain:
        train.rows.push_back(VertexId(i));
        break;
      case Split::kValidation:
        validation.rows.push_back(VertexId(i));
        break;
      case Split::kTest:
        test.rows.push_back(VertexId(i));
        break;
      case Split::kNone:
        break;
    }
  }
}

void RankData::count(Communicator& comm) {
  const double seen = batches_         ? double(links_ ? owned() : Index(train.rows.size()))
                      : share_.answers ? double(training_part().graph->counted)
                                       : 0;
  std::array<double, 4> totals{double(train.rows.size()), double(validation.rows.size()),
                               double(test.rows.size()), seen};
  comm.all_reduce(Traffic::kSetup, std::span<double>(totals));
  train.total = totals[0];
  validation.total = totals[1];
  test.total = totals[2];
  seen_ = {totals[3]};
  if (links_) train.total = links_->training_pairs();
  if (batches_) batches_->count(comm);
  if (shares_ && shares_->batches() > 1) count_batches(comm);
}

void RankData::count_batches(Communicator& comm) {
  ServerParts::Sizes sizes = shares_->sizes();
  std::vector<double> by_server(std::size_t(comm.size()));
  by_server[std::size_t(comm.rank())] = std::accumulate(sizes.training.begin(), sizes.training.end(), 0.0);
  for (std::vector<double>* each : {&sizes.training, &sizes.own, &by_server})
    comm.all_reduce(Traffic::kSetup, std::span<double>(*each));
  seen_ = std::move(sizes.own), counted_ = std::move(sizes.training);
  const double most = std::ranges::max(by_server);
  if (double(counted_.size()) <= most || most == 0)
    return;  // each batch has a training vertex; without any, training is refused elsewhere
  fail("{}", too_many_batches(shares_->strategy(), Index(counted_.size()), Index(most)));
}

/// Sets the views to the host's memory.
void RankData::view() {
  for (SplitRows* each : {&train, &validation, &test}) each->placed = each->rows;
  label_view_ = labels_.view();
}

void RankData::place(Context& ctx) {
  if (copies_ || memory_of(ctx.device).is_hosts) return;
  copies_.emplace(ctx);
  for (SplitRows* each : {&train, &validation, &test}) each->placed = copies_->of(each->placed);
  label_view_ = on_device(*copies_, label_view_, owned());
  if (full_) full_->place(ctx, true);
  if (training_) training_->place(ctx, !shares_ || !shares_->are_many());
}

void RankData::release_features() {
  if (full_) full_->release_features();
  if (training_) training_->data->release_features();
  if (batches_) batches_->release_features();
}

namespace {

Owners owners_of(const Job& job, const PreparedGraph& prepared, const PartRanks& parts, bool batches) {
  if (batches) return {prepared.part_offsets(), job.placement.ranks};
  return {prepared.part_offsets(), parts};
}

}  // namespace

LinkData::LinkData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& parts, bool batches)
    : negatives_(job.links.negatives),
      graph_(dataset, prepared.rows(), prepared.ids(), prepared.part_offsets(),
             owners_of(job, prepared, parts, batches), rank) {
  read(dataset, PairSet::kValidation, PairSet::kValidationNegative, validation_);
  read(dataset, PairSet::kTest, PairSet::kTestNegative, test_);
}

/// Counts own pairs first, then takes them.
void LinkData::read(const Dataset& dataset, PairSet edges, PairSet negatives, Measured& into) const {
  std::vector<Index> by_rank(std::size_t(graph_.owners().ranks()));
  for (const PairSet set : {edges, negatives}) {
    const View<const VertexId> pairs = dataset.pairs(set);
    for (Index i = 0; i < pairs.rows; ++i)
      ++by_rank[std::size_t(graph_.owners().owner_of(graph_.row_of(pairs.at(i, 0))))];
    if (set == edges) into.pairs.edges = by_rank[std::size_t(graph_.rank())];
    (set == edges ? into.edges : into.negatives) = double(pairs.rows);
  }
  into.pairs.reserve(by_rank[std::size_t(graph_.rank())]);
  for (const PairSet set : {edges, negatives}) {
    const View<const VertexId> pairs = dataset.pairs(set);
    for (Index i = 0; i < pairs.rows; ++i)
      if (const VertexId source = graph_.row_of(pairs.at(i, 0)); graph_.owners().owns(graph_.rank(), source))
        into.pairs.add(source, graph_.row_of(pairs.at(i, 1)));
  }
  into.most = *std::ranges::max_element(by_rank);
}

}  // namespace atl
