#include "train/part_data.h"

#include <cmath>

#include "model/model.h"

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

PartData::PartData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   std::span<const std::uint8_t> induced_on, bool halo_features) {
  const GraphNeeds needs = graph_needs(job.model);
  graph_ = localize(prepared, rank, {needs.normalisation, needs.attention, induced_on});
  part_.graph = graph_.get();
  part_.own = graph_->own_block();
  part_.outer = graph_->outer_block();
  const bool normalise = job.dataset.normalise_features == NormaliseFeatures::kRow;
  part_.features = own_.read(dataset, owned_ids(), normalise);
  if (!halo_features) return;
  const std::span<const VertexId> ids(graph_->ids);
  part_.halo_features = halo_.read(dataset, ids.subspan(std::size_t(graph_->owned)), normalise);
}

Rows PartData::Features::read(const Dataset& dataset, std::span<const VertexId> vertices, bool normalise) {
  if (dataset.sparse_features()) {
    sparse = dataset.read_sparse_features(vertices);
    if (normalise) normalise_rows(sparse);
    transpose = atl::transpose(sparse.view(), false);
    view = {sparse.view(), transpose.csr.view()};
    return &view;
  }
  dense.resize(Index(vertices.size()), dataset.meta().features);
  dataset.read_features(vertices, dense);
  if (normalise) normalise_rows(dense.view());
  return ConstMatrixView(dense);
}

void PartData::release_features() {
  own_.dense = Matrix();
  halo_.dense = Matrix();
  part_.features = part_.halo_features = Rows(ConstMatrixView());
}

}  // namespace atl
