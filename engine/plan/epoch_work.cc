#include "plan/epoch_work.h"

#include <algorithm>

namespace atl {
namespace {

constexpr double kReal = sizeof(Real);
constexpr double kBitTime = 0.4;  // of a product with bits, beside the dense one of the same shape

/// One layer of the rank's pass.
struct LayerPass {
  const Layer& layer;
  LayerSize size;
  bool input_is_fixed;  // takes no gradient
  bool attention;
  double sparse_nonzeros = -1;  // of all its source rows; −1: dense input
  bool bits = false;            // its input

  /// Rows that are transformed before they are aggregated come from the halo too.
  double source_rows() const {
    return size.outputs + (layer.gathers() && layer.rows_in_backward() ? size.others : 0);
  }
  double saved_elements() const {
    double sum = 0;
    for (const SavedSpec& s : layer.saved()) {
      if (s.rows >= 0) continue;
      const bool over_sources = s.over == SavedSpec::Over::kSources;
      sum += double(s.cols) * (size.outputs + (over_sources ? size.others : 0));
    }
    return sum;
  }
  double gather() const {
    return layer.gathers() ? size.arcs * (4 + kReal * double(layer.cost().gather_columns)) : 0;
  }
  /// Operations of one product, in dense ones that take as long, and the bytes of its tall operand.
  double flops() const { return layer.cost().flops_per_row * source_rows() * (bits ? kBitTime : 1); }
  double input_bytes() const { return source_rows() * double(layer.in()) * (bits ? 1.0 / 8 : double(kReal)); }
  /// Sparse features: an id and a value for each, and the row of the weights that it multiplies.
  double sparse_gather() const { return sparse_nonzeros * (8 + kReal * double(layer.out())); }

  EpochWork forward() const {
    EpochWork work;
    work.gathered_bytes = gather();
    work.streamed_bytes = kReal * (size.outputs * double(layer.out()) + saved_elements());
    if (sparse_nonzeros >= 0) {
      work.gathered_bytes += sparse_gather();
    } else {
      work.product_flops = flops();
      work.streamed_bytes += input_bytes();
    }
    return work;
  }

  EpochWork backward() const {
    EpochWork work;
    const bool gathers_back = !input_is_fixed || layer.rows_in_backward();
    work.gathered_bytes = gathers_back ? gather() * (attention ? 2 : 1) : 0;
    work.streamed_bytes = kReal * (2 * size.outputs * double(layer.out()) + saved_elements());
    if (sparse_nonzeros >= 0) {
      work.gathered_bytes += sparse_gather();
    } else {
      const double products = input_is_fixed ? 1 : 2;
      work.product_flops = products * flops();
      work.streamed_bytes += products * input_bytes();
    }
    return work;
  }
};

/// Calls visit for every layer that runs each epoch.
template <class F>
void for_each_pass(const Model& model, const RankShape& shape, const FeatureShape& features, F&& visit) {
  const int prefix = model.constant_prefix();
  const int end = shape.layers.end < 0 ? int(model.layers.size()) : shape.layers.end;
  for (int l = std::max(prefix, shape.layers.first); l < end; ++l) {
    LayerPass pass{*model.layers[std::size_t(l)],
                   {double(shape.owned), double(shape.halo), double(shape.arcs())},
                   l == prefix,
                   model.needs.attention};
    pass.bits = l == 0 && features.form == FeatureForm::kBits;
    if (l == 0 && features.form == FeatureForm::kSparse)
      pass.sparse_nonzeros = features.nonzeros_per_row * pass.source_rows();
    visit(pass);
  }
}

void add(EpochWork& sum, const EpochWork& term) {
  sum.product_flops += term.product_flops;
  sum.gathered_bytes += term.gathered_bytes;
  sum.streamed_bytes += term.streamed_bytes;
}

}  // namespace

EpochWork epoch_work(const Model& model, const RankShape& shape, const FeatureShape& features,
                     bool recompute) {
  EpochWork sum;
  for_each_pass(model, shape, features, [&](const LayerPass& pass) {
    add(sum, pass.forward());
    add(sum, pass.backward());
    if (recompute) add(sum, pass.forward());
  });
  return sum;
}

EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute) {
  EpochWork sum;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    const LayerPass pass{*model.layers[l], sizes[l], l == 0, model.needs.attention};
    add(sum, pass.forward());
    add(sum, pass.backward());
    if (recompute) add(sum, pass.forward());
  }
  return sum;
}

EpochWork evaluation_work(const Model& model, const RankShape& shape, const FeatureShape& features) {
  EpochWork sum;
  for_each_pass(model, shape, features, [&](const LayerPass& pass) { add(sum, pass.forward()); });
  return sum;
}

double seconds_of(const EpochWork& work, const MachineRates& rates) {
  return work.product_flops / rates.product_flops + work.gathered_bytes / rates.gather_bytes +
         work.streamed_bytes / rates.triad_bytes;
}

}  // namespace atl
