#include "strategies/dgs/star_pass.h"

#include <algorithm>
#include <limits>

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
  // So many that a row changes no statistic: that is what a constant's gradient is.
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
  crossing_ = {&masked_, Rows(ConstMatrixView(scaled)), 1, false, !back, {}};
  if (d_rows.cols > 0) crossing_.d_rows = d_scaled;
  step_ = alone ? Step::kSecond : Step::kFirst;
  return *this;
}

/// Own rows' gradients, which may lie in the memory of those of the output, are written last.
const Source* StarPass::next() {
  switch (step_) {
    case Step::kFirst:
      step_ = Step::kSecond;
      return back_ ? &crossing_ : &own_;
    case Step::kSecond:
      step_ = Step::kEnd;
      return back_ || star_.others() == 0 ? &own_ : &crossing_;
    case Step::kEnd:
      if (back_ && d_gathered_.cols > 0) end_back();
      return nullptr;
  }
  return nullptr;
}

void StarPass::end_back() {
  const ConstMatrixView d_scaled = crossing_.d_rows;
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

}  // namespace atl
