#include "train/rank_data.h"

#include <cmath>

namespace atl {
namespace {

/// Divides each row by the sum of its values' magnitudes, as the citation data sets' set-ups do; zero rows
/// stay zero.
void normalise_rows(MatrixView x) {
  for (Index r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (Index c = 0; c < x.cols; ++c) sum += std::abs(double(x.at(r, c)));
    if (sum == 0) continue;
    for (Index c = 0; c < x.cols; ++c) x.at(r, c) = Real(x.at(r, c) / sum);
  }
}

void normalise_rows(Csr& x) {
  for (Index r = 0; r < x.rows; ++r) {
    const auto begin = std::size_t(x.offsets[std::size_t(r)]),
               end = std::size_t(x.offsets[std::size_t(r) + 1]);
    double sum = 0;
    for (auto e = begin; e < end; ++e) sum += std::abs(double(x.weights[e]));
    if (sum == 0) continue;
    for (auto e = begin; e < end; ++e) x.weights[e] = float(x.weights[e] / sum);
  }
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

RankData::RankData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank)
    : classes_(dataset.meta().classes), multi_label_(dataset.meta().multi_label) {
  const bool normalise = job.dataset.normalise_features == NormaliseFeatures::kRow;
  cut(full_, prepared, rank, job, false);
  read_features(full_, dataset, normalise);
  if (job.training.setting == Setting::kInductive) {
    training_ = std::make_unique<Part>();
    cut(*training_, prepared, rank, job, true);
    read_features(*training_, dataset, normalise);
  }
  read_labels(dataset);
  read_splits(dataset, job);
}

void RankData::cut(Part& part, const PreparedGraph& prepared, Rank rank, const Job& job, bool induced) {
  const GraphNeeds needs = graph_needs(job.model);
  part.graph = localize(prepared, rank, {needs.normalisation, needs.attention, induced});
  part.part.graph = part.graph.get();
  part.part.own = part.graph->own_block();
  part.part.outer = part.graph->outer_block();
}

void RankData::read_features(Part& p, const Dataset& dataset, bool normalise) {
  const std::span<const VertexId> ids(p.graph->ids);
  const std::span<const VertexId> own = ids.first(std::size_t(p.graph->owned)),
                                  halo = ids.subspan(own.size());
  if (dataset.sparse_features()) {
    auto read = [&](std::span<const VertexId> rows, Csr& csr, Transpose& t, SparseRows& view) {
      csr = dataset.read_sparse_features(rows);
      if (normalise) normalise_rows(csr);
      t = transpose(csr.view(), false);
      view = {csr.view(), t.csr.view()};
    };
    read(own, p.sparse, p.sparse_transpose, p.sparse_rows);
    read(halo, p.halo_sparse, p.halo_sparse_transpose, p.halo_sparse_rows);
    p.part.features = &p.sparse_rows;
    p.part.halo_features = &p.halo_sparse_rows;
    return;
  }
  auto read = [&](std::span<const VertexId> rows, Matrix& dense) {
    dense.resize(Index(rows.size()), dataset.meta().features);
    dataset.read_features(rows, dense);
    if (normalise) normalise_rows(dense.view());
  };
  read(own, p.dense);
  read(halo, p.halo_dense);
  p.part.features = ConstMatrixView(p.dense);
  p.part.halo_features = ConstMatrixView(p.halo_dense);
}

void RankData::read_labels(const Dataset& dataset) {
  if (multi_label_) {
    targets_.reserve(std::size_t(owned() * classes_));
    for (const VertexId v : owned_ids()) {
      const std::uint8_t* row = dataset.targets().row(v);
      targets_.insert(targets_.end(), row, row + classes_);
    }
    return;
  }
  for (const VertexId v : owned_ids()) labels_.push_back(dataset.labels()[std::size_t(v)]);
}

void RankData::read_splits(const Dataset& dataset, const Job& job) {
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  const std::span<const VertexId> ids = owned_ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!multi_label_ && labels_[i] < 0) continue;  // unlabelled vertices are in no split
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

void RankData::release_features() {
  for (Part* p : {&full_, training_.get()}) {
    if (p == nullptr) continue;
    p->dense = Matrix();
    p->halo_dense = Matrix();
    p->part.features = p->part.halo_features = Rows(ConstMatrixView());
  }
}

}  // namespace atl
