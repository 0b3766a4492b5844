#include "strategy/pipeline/stages.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "sampler/keyed_order.h"

namespace atl {
namespace {

/// What a gathered column costs in operations of a product, of a graph with sixteen arcs a vertex. Stages of equal layers don't
/// depend on it.
constexpr double kOperationsPerColumn = 16 * 8;

/// By layer.
std::vector<double> costs_of(const Model& model) {
  std::vector<double> costs;
  const int once = model.constant_prefix();
  for (int l = 0; l < int(model.layers.size()); ++l) {
    const LayerCost cost = model.layers[std::size_t(l)]->cost();
    costs.push_back(l < once ? 0 : cost.flops_per_row + kOperationsPerColumn * double(cost.gather_columns));
  }
  return costs;
}

/// The tap of the layers from `first` on, where a layer before that makes it.
int tap_across(const Model& model, int first) {
  for (std::size_t l = std::size_t(first); l < model.layers.size(); ++l)
    if (const int tap = model.layers[l]->tap(); tap >= 0 && tap < first) return tap;
  return -1;
}

}  // namespace

/// best[s][e]: the slowest of s stages that end before layer e, at best.
std::vector<LayerRange> stage_ranges(const Model& model, int stages) {
  const int layers = int(model.layers.size()), once = model.constant_prefix();
  if (stages > std::max(1, layers - once))
    fail("strategy.gnnpipe.stages: {} stages for {} layers that are computed in each epoch (use at most {})",
         stages, layers - once, std::max(1, layers - once));
  const std::vector<double> costs = costs_of(model);
  std::vector<double> before(std::size_t(layers) + 1, 0);
  std::partial_sum(costs.begin(), costs.end(), before.begin() + 1);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto ends = std::size_t(layers) + 1;
  std::vector<std::vector<double>> best(std::size_t(stages) + 1, std::vector<double>(ends, kNever));
  std::vector<std::vector<int>> begin(std::size_t(stages) + 1, std::vector<int>(ends, 0));
  best[0][std::size_t(0)] = 0;
  for (std::size_t s = 1; s < best.size(); ++s)
    for (int end = once + int(s); end <= layers; ++end)
      for (int first = s == 1 ? 0 : once + int(s) - 1; first < (s == 1 ? 1 : end); ++first) {
        const double cost =
            std::max(best[s - 1][std::size_t(first)], before[std::size_t(end)] - before[std::size_t(first)]);
        if (cost >= best[s][std::size_t(end)]) continue;
        best[s][std::size_t(end)] = cost;
        begin[s][std::size_t(end)] = first;
      }
  std::vector<LayerRange> ranges(static_cast<std::size_t>(stages));
  int end = layers;
  for (auto s = std::size_t(stages); s > 0; --s) {
    ranges[s - 1] = {begin[s][std::size_t(end)], end};
    end = ranges[s - 1].first;
  }
  return ranges;
}

int tap_into(const Model& model, const LayerRange& stage) {
  return tap_across(model, stage.first);
}

int tap_out_of(const Model& model, const LayerRange& stage) {
  return tap_across(model, stage.end);
}

std::vector<int> chunk_order(int chunks, bool shuffle, std::uint64_t seed, std::int64_t epoch) {
  std::vector<int> order(std::size_t(chunks), 0);
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  const KeyedOrder shuffled(std::uint64_t(chunks), Draws(seed, Purpose::kChunks, std::uint64_t(epoch)).key());
  for (std::size_t place = 0; place < order.size(); ++place) order[place] = int(shuffled.at(place));
  return order;
}

}  // namespace atl
