#include "model/layer_work.h"

namespace atl {
namespace {

constexpr double kReal = sizeof(Real);

}  // namespace

LayerPass::LayerPass(const Model& model, int layer, const LayerSize& size, bool input_is_fixed)
    : layer_(*model.layers[std::size_t(layer)]),
      size_(size),
      input_is_fixed_(input_is_fixed),
      attention_(model.needs.attention) {
  if (layer > 0) return;
  bits_ = model.data.bits;
  if (model.data.nonzeros_per_row >= 0) sparse_nonzeros_ = model.data.nonzeros_per_row * source_rows();
}

/// Rows that are transformed before they are aggregated come from the halo too.
double LayerPass::source_rows() const {
  return size_.outputs + (layer_.gathers() && layer_.rows_in_backward() ? size_.others : 0);
}

double LayerPass::saved_elements() const {
  double sum = 0;
  for (const SavedSpec& s : layer_.saved()) {
    if (s.rows >= 0) continue;
    const bool over_sources = s.over == SavedSpec::Over::kSources;
    sum += double(s.cols) * (size_.outputs + (over_sources ? size_.others : 0));
  }
  return sum;
}

EpochWork LayerPass::gathered_once() const {
  if (!layer_.gathers()) return {};
  const double row = kReal * double(layer_.cost().gather_columns);
  return gathered(size_.arcs * (4 + row), (size_.outputs + size_.others) * row);
}

/// Operations of one product, in dense ones that take as long.
double LayerPass::flops() const {
  return layer_.cost().flops_per_row * source_rows() * (bits_ ? kBitTime : 1);
}

/// Of a product's tall operand.
double LayerPass::input_bytes() const {
  return source_rows() * double(layer_.in()) * (bits_ ? 1.0 / 8 : kReal);
}

/// Sparse features: an id and a value for each, and the row of the weights that it multiplies.
EpochWork LayerPass::sparse_gathered() const {
  const double row = kReal * double(layer_.out());
  return gathered(sparse_nonzeros_ * (8 + row), double(layer_.in()) * row);
}

EpochWork LayerPass::forward() const {
  EpochWork work = gathered_once();
  work.streamed_bytes = kReal * (size_.outputs * double(layer_.out()) + saved_elements());
  if (sparse_nonzeros_ >= 0) {
    work += sparse_gathered();
  } else {
    work.product_flops = flops();
    work.streamed_bytes += input_bytes();
  }
  return work;
}

EpochWork LayerPass::backward() const {
  EpochWork work;
  const bool gathers_back = !input_is_fixed_ || layer_.rows_in_backward();
  for (int times = gathers_back ? (attention_ ? 2 : 1) : 0; times > 0; --times) work += gathered_once();
  work.streamed_bytes = kReal * (2 * size_.outputs * double(layer_.out()) + saved_elements());
  if (sparse_nonzeros_ >= 0) {
    work += sparse_gathered();
  } else {
    const double products = input_is_fixed_ ? 1 : 2;
    work.product_flops = products * flops();
    work.streamed_bytes += products * input_bytes();
  }
  return work;
}

}  // namespace atl
