#include "train/rank_data.h"

#include <algorithm>
#include <array>

#include "job/strategies.h"
#include "strategy/strategy.h"

namespace atl {
namespace {

/// Nobody reads halo rows' features where the first layer reads a vertex's own row alone.
bool reads_halo_features(const Job& job, const DatasetMeta& meta, const DataUse& use) {
  if (meta.features == 0) fail("{}: has no features, and a model needs them", meta.name);
  return job_model(job, feature_shape(meta, use.form), use.classes).layers.front()->gathers();
}

Labels read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                   std::span<const VertexId> vertices) {
  Labels labels;
  if (job.training.loss != Loss::kBinaryCrossEntropy) {
    labels.classes.assign(vertices.size(), -1);
    if (!use.known) return labels;
    for (std::size_t row = 0; row < vertices.size(); ++row)
      labels.classes[row] = dataset.labels()[std::size_t(vertices[row])];
    return labels;
  }
  labels.columns = use.classes;
  if (!use.known) return labels;
  labels.targets.reserve(vertices.size() * std::size_t(labels.columns));
  for (const VertexId v : vertices) {
    const std::uint8_t* row = dataset.targets().row(v);
    labels.targets.insert(labels.targets.end(), row, row + labels.columns);
  }
  return labels;
}

/// An unlabelled vertex is in no split.
bool labelled(const Labels& labels, std::size_t row) {
  return labels.columns > 0 ? !labels.targets.empty() : labels.classes[row] >= 0;
}

}  // namespace

PartitionOptions partition_options(const Job& job, int ranks) {
  const PartitionerSpec& p = job.placement.partitioner;
  const StrategyInfo& strategy = *find_strategy(job.strategy.kind);
  const int parts = strategy.parts == nullptr ? std::max(ranks, p.parts) : strategy.parts(job);
  return {.kind = p.kind,
          .parts = parts,
          .seed = p.seed,
          .objective = p.objective,
          .groups = strategy.servers == nullptr || parts != job.placement.ranks ? 1 : strategy.servers(job),
          .slices = strategy.slices == nullptr ? 1 : strategy.slices(job)};
}

GraphTransforms graph_transforms(const Job& job) {
  using Loops = GraphTransforms::SelfLoops;
  const SelfLoops wanted = job.dataset.self_loops == SelfLoops::kModel ? graph_needs(job.model).self_loops
                                                                       : job.dataset.self_loops;
  GraphTransforms t;
  t.symmetrise = job.dataset.symmetrise;
  t.self_loops = wanted == SelfLoops::kAdd      ? Loops::kAdd
                 : wanted == SelfLoops::kRemove ? Loops::kRemove
                                                : Loops::kKeep;
  t.induced = job.training.setting == Setting::kInductive;
  const StrategyInfo& strategy = *find_strategy(job.strategy.kind);
  t.by_id = strategy.draws_neighbours != nullptr && strategy.draws_neighbours(job);
  return t;
}

std::vector<std::uint8_t> training_marks(const Dataset& dataset, const Job& job) {
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  std::vector<std::uint8_t> marks(std::size_t(split.rows));
  for (Index v = 0; v < split.rows; ++v) {
    marks[std::size_t(v)] = split.at(v, job.dataset.split_column) == std::uint8_t(Split::kTrain);
  }
  return marks;
}

RankData::RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& ranks)
    : RankData(job, dataset, prepared, rank, ranks,
               {dataset.meta().classes, kept_form(job, dataset.meta()), dataset.meta().classes > 0, true}) {}

RankData::RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& ranks, const DataUse& use)
    : share_(share_of(job, rank, ranks)),
      features_(feature_shape(dataset.meta(), use.form)),
      classes_(use.classes),
      vertices_(double(dataset.meta().vertices)) {
  const bool halo_features = reads_halo_features(job, dataset.meta(), use);
  const bool batches = strategy_of(job).holds == Holds::kBatches;
  if (batches)
    batches_ = std::make_unique<BatchData>(job, dataset, prepared, rank, ranks);
  else
    full_ = std::make_unique<PartData>(job, dataset, prepared, rank, share_, std::span<const std::uint8_t>(),
                                       use.form, halo_features);
  if (share_.answers) owned_ids_ = batches ? batches_->owned_ids() : full_->owned_ids();
  labels_ = read_labels(job, dataset, use, owned_ids_);
  read_splits(dataset, job, use.by_split);
  if (batches) batches_->trains_on(train.rows);
  const bool inductive = !batches && job.training.setting == Setting::kInductive;
  if (use.trains && (inductive || strategy_of(job).server != nullptr))
    read_training_part(job, dataset, prepared, use, halo_features);
  view();
}

void RankData::read_training_part(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                  const DataUse& use, bool halo_features) {
  const Rank rank = full_->graph().rank;
  const std::vector<std::uint8_t> marks = training_marks(dataset, job);
  if (const auto server = strategy_of(job).server; server != nullptr) {
    redrawn_.emplace(Redrawn{job, dataset, prepared, use, halo_features, rank});
    read_server_part(1);
    if (!server(job, rank, 1).redraws) redrawn_.reset();
  } else {
    training_ =
        std::make_unique<PartData>(job, dataset, prepared, rank, share_, marks, use.form, halo_features);
  }
  if (!share_.answers) return;
  const auto ids = training_->owned_ids().first(std::size_t(training_->graph().counted));
  training_labels_ = read_labels(job, dataset, use, ids);
  for (Index row = 0; row < Index(ids.size()); ++row) {
    const bool trains = marks[std::size_t(ids[std::size_t(row)])] != 0;
    if (trains && labelled(training_labels_, std::size_t(row))) training_rows_.push_back(VertexId(row));
  }
}

void RankData::read_server_part(Index epoch) {
  const Redrawn& from = *redrawn_;
  ServerOptions options = strategy_of(from.job).server(from.job, from.rank, epoch);
  std::vector<std::uint8_t> marks;
  if (from.job.training.setting == Setting::kInductive) marks = training_marks(from.dataset, from.job);
  options.induced_on = marks;
  training_ = std::make_unique<PartData>(from.job, from.dataset, from.prepared, from.rank, options, *full_,
                                         from.use.form, from.halo_features);
  redrawn_->epoch = epoch;
}

/// The server's own vertices stay where they are, and so do their labels.
void RankData::draw(Context& ctx, Index epoch) {
  training_.reset();  // both at once would be more than was planned
  read_server_part(epoch);
  training_->place(ctx);
}

void RankData::read_splits(const Dataset& dataset, const Job& job, bool by_split) {
  View<const std::uint8_t> split;
  if (by_split) split = dataset.split(job.dataset.split);
  const std::span<const VertexId> ids = owned_ids_;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!labelled(labels_, i)) continue;
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
  const double seen = batches_         ? double(train.rows.size())
                      : share_.answers ? double(training_part().graph->counted)
                                       : 0;
  std::array<double, 4> totals{double(train.rows.size()), double(validation.rows.size()),
                               double(test.rows.size()), seen};
  comm.all_reduce(Traffic::kSetup, std::span<double>(totals));
  train.total = totals[0];
  validation.total = totals[1];
  test.total = totals[2];
  training_vertices_ = totals[3];
  if (batches_) batches_->count(comm);
}

LabelView on_device(DeviceCopies& copies, const LabelView& host, Index rows) {
  LabelView view = host;
  if (host.classes != nullptr) view.classes = copies.of(std::span(host.classes, std::size_t(rows))).data();
  const std::span targets(host.targets.data, std::size_t(host.targets.rows * host.targets.cols));
  view.targets.data = copies.of(targets).data();
  return view;
}

/// As they lie in the host's memory.
void RankData::view() {
  for (SplitRows* each : {&train, &validation, &test}) each->placed = each->rows;
  label_view_ = labels_.view();
  training_label_view_ = training_labels_.view();
  placed_training_rows_ = training_rows_;
}

void RankData::place(Context& ctx) {
  if (copies_ || memory_of(ctx.device).is_hosts) return;
  copies_.emplace(ctx);
  for (SplitRows* each : {&train, &validation, &test}) each->placed = copies_->of(each->placed);
  label_view_ = on_device(*copies_, label_view_, owned());
  training_label_view_ =
      on_device(*copies_, training_label_view_, training_ && share_.answers ? training_->graph().counted : 0);
  placed_training_rows_ = copies_->of(placed_training_rows_);
  if (full_) full_->place(ctx);
  if (training_) training_->place(ctx);
}

void RankData::release_features() {
  if (full_) full_->release_features();
  if (training_) training_->release_features();
}

}  // namespace atl
