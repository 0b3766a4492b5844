#include "model/layer_work.h"

namespace atl {
namespace {

double bytes_of(Storage storage) {
  return storage == Storage::kHalves ? sizeof(Bfloat16) : sizeof(Real);
}

}  // namespace

LayerPass::LayerPass(const Model& model, int layer, const LayerSize& size, bool input_is_fixed)
    : layer_(model.spec(layer)),
      size_(size),
      input_is_fixed_(input_is_fixed),
      attention_(model.needs.attention),
      input_(bytes_of(model.values)),
      output_(std::size_t(layer) + 1 < model.layers.size() ? input_ : sizeof(Real)) {
  if (layer > 0) return;
  bits_ = model.data.bits;
  if (model.data.nonzeros_per_row >= 0) sparse_nonzeros_ = model.data.nonzeros_per_row * source_rows();
}

/// How many rows the layer multiplies. Halo rows count too where rows are transformed before they are
/// aggregated, unless they arrive as products.
double LayerPass::source_rows() const {
  const bool with_others = layer_.gathers && layer_.rows_in_backward && layer_.product_cols == 0;
  return size_.outputs + (with_others ? size_.others : 0);
}

double LayerPass::saved_bytes() const {
  double sum = 0;
  for (const SavedSpec& s : layer_.saved) {
    if (s.rows >= 0) continue;
    const bool over_sources = s.over == SavedSpec::Over::kSources;
    // Boundary rows are about as many as halo rows.
    const bool over_boundary = s.over == SavedSpec::Over::kBoundary;
    const double of_a_row = double(s.cols) * (s.is_exact ? double(sizeof(Real)) : input_);
    sum +=
        of_a_row * ((over_boundary ? 0 : size_.outputs) + (over_sources || over_boundary ? size_.others : 0));
  }
  return sum;
}

EpochWork LayerPass::gathered_once() const {
  if (!layer_.gathers) return {};
  const double row = input_ * double(layer_.cost.gather_columns);
  return gathered(size_.arcs * (4 + row), (size_.outputs + size_.others) * row);
}

/// The work of `times` products. A product of bits is counted as the dense product that takes as long.
EpochWork LayerPass::products(double times) const {
  const double flops = times * layer_.cost.flops_per_row * source_rows();
  if (bits_) return {.product_flops = flops * kBitTime};
  if (input_ < sizeof(Real)) return {.half_flops = flops};
  return {.product_flops = flops};
}

/// Bytes of a product's tall operand, the rows of the input.
double LayerPass::input_bytes() const {
  return source_rows() * double(layer_.in) * (bits_ ? 1.0 / 8 : input_);
}

/// The bytes that a product of sparse features gathers: an id and a value for each nonzero, and the row of
/// the weights that it multiplies.
EpochWork LayerPass::sparse_gathered() const {
  const double row = sizeof(Real) * double(layer_.out);
  return gathered(sparse_nonzeros_ * (8 + row), double(layer_.in) * row);
}

EpochWork LayerPass::forward() const {
  EpochWork work = gathered_once();
  work.streamed_bytes = output_ * size_.outputs * double(layer_.out) + saved_bytes();
  if (sparse_nonzeros_ >= 0) {
    work += sparse_gathered();
  } else {
    work += products(1);
    work.streamed_bytes += input_bytes();
  }
  return work;
}

EpochWork LayerPass::backward() const {
  EpochWork work;
  const bool gathers_back = !input_is_fixed_ || layer_.rows_in_backward;
  for (int times = gathers_back ? (attention_ ? 2 : 1) : 0; times > 0; --times) work += gathered_once();
  work.streamed_bytes = output_ * 2 * size_.outputs * double(layer_.out) + saved_bytes();
  if (sparse_nonzeros_ >= 0) {
    work += sparse_gathered();
  } else {
    const double times = input_is_fixed_ ? 1 : 2;
    work += products(times);
    work.streamed_bytes += times * input_bytes();
  }
  return work;
}

}  // namespace atl
