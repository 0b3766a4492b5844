#include "train/rank_data.h"

#include <array>

#include "strategy/schedule.h"

namespace atl {
namespace {

/// Nobody reads halo rows' features where the first layer reads a vertex's own row alone.
bool reads_halo_features(const Job& job, const Dataset& dataset) {
  const DatasetMeta& meta = dataset.meta();
  const bool packed = kept_form(job, meta) != FeatureForm::kDense;
  return job_model(job, meta.features, meta.classes, packed).layers.front()->gathers();
}

Labels read_labels(const Dataset& dataset, std::span<const VertexId> vertices) {
  Labels labels;
  if (!dataset.meta().multi_label) {
    labels.classes.reserve(vertices.size());
    for (const VertexId v : vertices) labels.classes.push_back(dataset.labels()[std::size_t(v)]);
    return labels;
  }
  labels.columns = dataset.meta().classes;
  labels.targets.reserve(vertices.size() * std::size_t(labels.columns));
  for (const VertexId v : vertices) {
    const std::uint8_t* row = dataset.targets().row(v);
    labels.targets.insert(labels.targets.end(), row, row + labels.columns);
  }
  return labels;
}

/// An unlabelled vertex is in no split.
bool labelled(const Labels& labels, std::size_t row) {
  return labels.columns > 0 || labels.classes[row] >= 0;
}

}  // namespace

PartitionOptions partition_options(const Job& job, int parts) {
  const PartitionerSpec& p = job.placement.partitioner;
  return {p.kind, parts, p.seed, p.objective};
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
    : ranks_(ranks),
      full_(job, dataset, prepared, rank, ranks, {}, reads_halo_features(job, dataset)),
      classes_(dataset.meta().classes),
      vertices_(double(dataset.meta().vertices)),
      labels_(read_labels(dataset, full_.owned_ids())) {
  read_splits(dataset, job);
  if (job.training.setting != Setting::kInductive) return;
  training_ = std::make_unique<PartData>(job, dataset, prepared, rank, ranks, training_marks(dataset, job),
                                         reads_halo_features(job, dataset));
  training_labels_ = read_labels(dataset, training_->owned_ids());
  for (std::size_t row = 0; row < training_->owned_ids().size(); ++row) {
    if (labelled(training_labels_, row)) training_rows_.push_back(VertexId(row));
  }
}

void RankData::read_splits(const Dataset& dataset, const Job& job) {
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  const std::span<const VertexId> ids = full_.owned_ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!labelled(labels_, i)) continue;
    switch (Split(split.at(ids[i], job.dataset.split_column))) {
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
  std::array<double, 4> totals{double(train.rows.size()), double(validation.rows.size()),
                               double(test.rows.size()), double(training_part().graph->owned)};
  comm.all_reduce(Traffic::kSetup, std::span<double>(totals));
  train.total = totals[0];
  validation.total = totals[1];
  test.total = totals[2];
  training_vertices_ = totals[3];
}

void RankData::release_features() {
  full_.release_features();
  if (training_) training_->release_features();
}

}  // namespace atl
