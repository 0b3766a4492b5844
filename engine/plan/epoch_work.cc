#include "plan/epoch_work.h"

#include <algorithm>

namespace atl {
namespace {

void add_layer(const LayerPass& pass, bool recompute, EpochWork& sum) {
  sum += pass.forward();
  sum += pass.backward();
  if (recompute) sum += pass.forward();
}

/// All owned rows or, where some are copies, those that are near enough.
LayerSize layer_size(const Model& model, int l, const RankShape& shape) {
  if (shape.near.empty()) return {double(shape.owned), double(shape.halo), double(shape.arcs())};
  const auto behind = std::size_t(std::count_if(model.layers.begin() + l + 1, model.layers.end(),
                                                [](const auto& each) { return each->spec().gathers; }));
  if (behind == shape.near.size()) return {double(shape.owned), 0, 0};
  const NearShape& near = shape.near[behind];
  if (!model.spec(l).gathers) return {double(near.rows), 0, 0};
  return {double(near.rows), double(near.sources - near.rows + near.halo),
          double(near.own_arcs + near.outer_arcs)};
}

/// Calls visit for every layer that runs each epoch.
template <class F>
void for_each_pass(const Model& model, const RankShape& shape, F&& visit) {
  const int end = shape.layers.end < 0 ? int(model.layers.size()) : shape.layers.end;
  const int prefix = model.constant_prefix();
  for (int l = std::max(prefix, shape.layers.first); l < end; ++l)
    visit(LayerPass(model, l, layer_size(model, l, shape), l == prefix));
}

}  // namespace

EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { add_layer(pass, recompute, sum); });
  return sum;
}

EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute, int fixed) {
  EpochWork sum;
  for (std::size_t l = 0; l < sizes.size(); ++l)
    add_layer(LayerPass(model, int(l), sizes[l], int(l) <= fixed), recompute, sum);
  return sum;
}

EpochWork evaluation_work(const Model& model, const RankShape& shape) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { sum += pass.forward(); });
  return sum;
}

}  // namespace atl
