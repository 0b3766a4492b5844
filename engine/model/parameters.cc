#include "model/parameters.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace atl {
namespace {

std::uint64_t name_key(const std::string& name) {
  std::uint64_t key = 0;
  for (const unsigned char c : name) key = mix64(key ^ c);
  return key;
}

double bound_of(const ParameterSpec& spec) {
  const double fan_in = double(spec.fan_in > 0 ? spec.fan_in : spec.rows);
  const double fan_out = double(spec.fan_out > 0 ? spec.fan_out : spec.cols);
  switch (spec.init) {
    case Init::kGlorot:
      return std::sqrt(6.0 / (fan_in + fan_out));
    case Init::kFanOut:
      return 1.0 / std::sqrt(fan_out);
    case Init::kFanIn:
      return 1.0 / std::sqrt(fan_in);
    case Init::kZero:
    case Init::kOne:
      break;
  }
  return 0;
}

/// Fills the rows `placement` gives us; element (r, c) is keyed by its place in the whole parameter.
void initialise(const ParameterSpec& spec, const Placement& placement, std::uint64_t seed, MatrixView out) {
  const double bound = bound_of(spec), constant = spec.init == Init::kOne ? 1 : 0;
  const Draws draws(seed ^ name_key(spec.name), Purpose::kWeights);
  for (Index r = 0; r < out.rows; ++r) {
    const auto global_row = std::uint64_t(placement.row_begin + r);
    for (Index c = 0; c < out.cols; ++c) {
      const double unit = bound > 0 ? 2 * draws.uniform_at(global_row, std::uint64_t(c)) - 1 : 0;
      out.at(r, c) = Real(constant + bound * unit);
    }
  }
}

}  // namespace

Parameters::Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed) {
  by_layer_.resize(layers.size());
  for (const bool trainable : {true, false}) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      by_layer_[l].resize(layers[l].size());
      for (std::size_t i = 0; i < layers[l].size(); ++i) {
        if (layers[l][i].trainable != trainable) continue;
        Entry entry{layers[l][i], {}, int(l), 0, layers[l][i].rows * layers[l][i].cols};
        entry.spec.name = "layers." + std::to_string(l) + "." + entry.spec.name;
        entry.offset = entries_.empty() ? 0 : entries_.back().offset + entries_.back().count;
        by_layer_[l][i] = int(entries_.size());
        entries_.push_back(entry);
      }
    }
    if (trainable) trainable_ = entries_.empty() ? 0 : entries_.back().offset + entries_.back().count;
  }
  values_.resize(1, entries_.empty() ? 0 : entries_.back().offset + entries_.back().count);
  gradients_.resize(1, trainable_);
  gradients_.zero();
  for (const Entry& e : entries_) {
    initialise(e.spec, e.placement, seed, MatrixView(values_.data() + e.offset, e.spec.rows, e.spec.cols));
  }
}

const Parameters::Entry& Parameters::entry(int layer, int index) const {
  ATOLL_CHECK(layer >= 0 && layer < int(by_layer_.size()), "layer {}", layer);
  ATOLL_CHECK(index >= 0 && index < count_in(layer), "parameter {} of layer {}", index, layer);
  return entries_[std::size_t(by_layer_[std::size_t(layer)][std::size_t(index)])];
}

MatrixView Parameters::value(int layer, int index) {
  const Entry& e = entry(layer, index);
  return {values_.data() + e.offset, e.spec.rows, e.spec.cols};
}

ConstMatrixView Parameters::value(int layer, int index) const {
  const Entry& e = entry(layer, index);
  return {values_.data() + e.offset, e.spec.rows, e.spec.cols};
}

MatrixView Parameters::gradient(int layer, int index) {
  const Entry& e = entry(layer, index);
  ATOLL_CHECK(e.spec.trainable, "{} has no gradient", e.spec.name);
  return {gradients_.data() + e.offset, e.spec.rows, e.spec.cols};
}

}  // namespace atl
