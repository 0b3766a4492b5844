#include "plan/epoch_work.h"

#include <algorithm>

namespace atl {
namespace {

void add_layer(const LayerPass& pass, bool recompute, EpochWork& sum) {
  sum += pass.forward();
  sum += pass.backward();
  if (recompute) sum += pass.forward();
}

/// Calls visit for every layer that runs each epoch.
template <class F>
void for_each_pass(const Model& model, const RankShape& shape, F&& visit) {
  const int end = shape.layers.end < 0 ? int(model.layers.size()) : shape.layers.end;
  const int prefix = model.constant_prefix();
  const LayerSize size{double(shape.owned), double(shape.halo), double(shape.arcs())};
  for (int l = std::max(prefix, shape.layers.first); l < end; ++l)
    visit(LayerPass(model, l, size, l == prefix));
}

}  // namespace

EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { add_layer(pass, recompute, sum); });
  return sum;
}

EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute) {
  EpochWork sum;
  for (std::size_t l = 0; l < sizes.size(); ++l)
    add_layer(LayerPass(model, int(l), sizes[l], l == 0), recompute, sum);
  return sum;
}

EpochWork evaluation_work(const Model& model, const RankShape& shape) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { sum += pass.forward(); });
  return sum;
}

}  // namespace atl
