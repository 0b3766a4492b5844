#include "strategies/dgs/star_pass.h"

#include <algorithm>
#include <limits>

#include "graph/csr.h"

namespace atl {

std::vector<LayerRows> star_rows(const Model& model, Index others) {
  std::vector<LayerRows> all;
  auto left = std::ranges::count_if(model.layers, [](const auto& layer) { return layer->spec().gathers; });
  ATOLL_CHECK(left > 0, "none of {} layers reads neighbours", model.layers.size());
  Index rows = 1 + others;
  for (const auto& layer : model.layers) {
    LayerRows& of = all.emplace_back();
    of.inputs = rows;
    of.sources = {rows, others};
    if (layer->spec().gathers && --left == 0) rows = 1;
    of.outputs = of.destinations = rows;
  }
  return all;
}

Index widest_gathered(const Model& model) {
  Index widest = 1;
  for (const auto& layer : model.layers)
    if (layer->spec().gathers) widest = std::max(widest, layer->spec().in);
  return widest;
}

StarPass::StarPass(Context& ctx, const Model& model, const StarGraph& star)
    : Pass(ctx),
      star_(star),
      rows_(star_rows(model, star.others())),
      d_open_(std::size_t(star.others())),
      scaled_(1, star.others() * widest_gathered(model)),
      d_scaled_(1, star.others() * widest_gathered(model)) {
  // Infinitely many, so that a row changes no statistic: batch norm then treats its statistics as constants.
  state_.reduced_rows = std::numeric_limits<double>::infinity();
}

atl::Gather& StarPass::begin(const Rows& rows, MatrixView d_rows, bool back) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  const bool last = state_.destinations == 1;
  const Index others = star_.others(), cols = rows.cols();
  gathered_ = rows.dense, d_gathered_ = d_rows, back_ = back;
  unmasked_ = star_.unmasked(last), masked_ = star_.masked(last);
  const MatrixView scaled(scaled_.data(), others, cols), d_scaled(d_scaled_.data(), others, cols);
  for (Index u = 0; u < others; ++u) {
    const Real open = open_[std::size_t(u)], *const from = gathered_.row(1 + u);
    Real* const to = scaled.row(u);
    for (Index c = 0; c < cols; ++c) to[c] = open * from[c];
  }
  const bool alone = others == 0;
  own_ = {&unmasked_, rows, 0, true, back || alone, d_rows};
  remote_ = {&masked_, Rows(ConstMatrixView(scaled)), 1, false, !back, {}};
  if (d_rows.cols > 0) remote_.d_rows = d_scaled;
  step_ = alone ? Step::kSecond : Step::kFirst;
  return *this;
}

/// Own rows' gradients come last, because they may lie in the memory of the output's gradients.
const Source* StarPass::next() {
  switch (step_) {
    case Step::kFirst:
      step_ = Step::kSecond;
      return back_ ? &remote_ : &own_;
    case Step::kSecond:
      step_ = Step::kEnd;
      return back_ || star_.others() == 0 ? &own_ : &remote_;
    case Step::kEnd:
      if (back_ && d_gathered_.cols > 0) end_back();
      return nullptr;
  }
  return nullptr;
}

void StarPass::end_back() {
  const ConstMatrixView d_scaled = remote_.d_rows;
  for (Index u = 0; u < star_.others(); ++u) {
    const Real open = open_[std::size_t(u)], *const d = d_scaled.row(u),
               *const gathered = gathered_.row(1 + u);
    Real* const to = d_gathered_.row(1 + u);
    double sum = 0;
    for (Index c = 0; c < d_scaled.cols; ++c) sum += double(d[c]) * double(gathered[c]);
    for (Index c = 0; c < d_scaled.cols; ++c) to[c] += open * d[c];
    d_open_[std::size_t(u)] += sum;
  }
}

namespace {

template <class T>
const T* first_or_null(const std::vector<T>& values) {
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
    inner_.back_columns.push_back(row);  // every row reads the centre
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
  block.dst_scale = first_or_null(dst_scale_);
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
