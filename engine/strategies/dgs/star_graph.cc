#include "strategies/dgs/star_graph.h"

#include "graph/normalisation.h"

namespace atl {
namespace {

template <class T>
const T* data_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

}  // namespace

StarGraph::StarGraph(std::span<const VertexId> ids, const GraphNeeds& needs)
    : others_(Index(ids.size())), ids_{0} {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  const bool loops = needs.self_loops == SelfLoops::kAdd;
  const auto rows = VertexId(this->rows());
  inner_.offsets = inner_.back_offsets = {0};
  last_.offsets = {0, 1}, last_.columns = {0}, last_.back_columns = {0}, last_.back_place = {0};
  last_.back_offsets.assign(std::size_t(rows) + 1, 1), last_.back_offsets[0] = 0;
  masked_.offsets.assign(std::size_t(rows) + 1, others_), masked_.offsets[0] = 0;
  for (VertexId row = 0; row < rows; ++row) {
    inner_.back_columns.push_back(row);  // the centre is read by all
    inner_.back_place.push_back(Index(inner_.columns.size()));
    inner_.columns.push_back(0);
    if (row > 0 && loops) inner_.columns.push_back(row);
    inner_.offsets.push_back(Index(inner_.columns.size()));
  }
  inner_.back_offsets.push_back(rows);
  for (VertexId row = 1; row < rows; ++row) {
    if (loops) {
      inner_.back_columns.push_back(row);
      inner_.back_place.push_back(inner_.offsets[std::size_t(row) + 1] - 1);
    }
    inner_.back_offsets.push_back(Index(inner_.back_columns.size()));
    masked_.columns.push_back(row - 1);
    masked_.back_columns.push_back(0);
    masked_.back_place.push_back(row - 1);
    masked_.back_offsets.push_back(row - 1);
  }
  masked_.back_offsets.push_back(others_);
  const Normalisation by = needs.normalisation;
  if (by == Normalisation::kSum) return;
  for (VertexId row = 0; row < rows; ++row) {
    const double degree = row == 0 ? double(rows) : loops ? 2 : 1;
    dst_scale_.push_back(dst_factor(by, degree));
    if (by == Normalisation::kSymmetric) src_scale_.push_back(src_factor(by, degree));
  }
}

Block StarGraph::block(const Arcs& arcs, bool last, Index first_source) const {
  const Index destinations = last ? 1 : rows(), sources = rows() - first_source;
  Block block;
  block.arcs = {destinations, sources, arcs.offsets.data(), arcs.columns.data(), nullptr};
  block.transpose = {sources, destinations, arcs.back_offsets.data(), arcs.back_columns.data(), nullptr};
  block.transpose_arc = arcs.back_place.data();
  block.dst_scale = data_or_null(dst_scale_);
  block.src_scale = src_scale_.empty() ? nullptr : src_scale_.data() + first_source;
  block.dst_ids = std::span(ids_).first(std::size_t(destinations));
  block.src_ids = std::span(ids_).subspan(std::size_t(first_source));
  block.dst_are_sources = first_source == 0;
  return block;
}

Block StarGraph::unmasked(bool last) const {
  return block(last ? last_ : inner_, last, 0);
}

Block StarGraph::masked(bool last) const {
  return block(masked_, last, 1);
}

Index StarGraph::bytes() const {
  Index sum = Index((dst_scale_.size() + src_scale_.size()) * sizeof(Real) + ids_.size() * sizeof(VertexId));
  for (const Arcs* each : {&inner_, &last_, &masked_})
    sum +=
        Index((each->offsets.size() + each->back_offsets.size() + each->back_place.size()) * sizeof(Index) +
              (each->columns.size() + each->back_columns.size()) * sizeof(VertexId));
  return sum;
}

}  // namespace atl
