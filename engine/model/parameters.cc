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

Parameters::Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed)
    : Parameters(layers, seed, [](int, const ParameterSpec&) { return Placement(); }) {}

Parameters::Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed,
                       PlaceParameter place) {
  by_layer_.resize(layers.size());
  for (const bool trainable : {true, false}) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      by_layer_[l].resize(layers[l].size());
      for (std::size_t i = 0; i < layers[l].size(); ++i) {
        const ParameterSpec& spec = layers[l][i];
        if (spec.trainable != trainable) continue;
        by_layer_[l][i] = int(entries_.size());
        add(spec, place(int(l), spec), int(l));
      }
    }
    if (trainable) trainable_ = held_;
  }
  values_.resize(1, held_);
  gradients_.resize(1, trainable_);
  gradients_.zero();
  for (const Entry& e : entries_)
    initialise(e.spec, e.placement, seed,
               MatrixView(values_.data() + e.offset, e.placement.row_count, e.spec.cols));
}

void Parameters::add(const ParameterSpec& spec, Placement placement, int layer) {
  if (placement.row_count < 0) placement.row_count = spec.rows - placement.row_begin;
  const bool whole = placement.row_begin == 0 && placement.row_count == spec.rows;
  ATOLL_CHECK(placement.row_begin >= 0 && placement.row_begin + placement.row_count <= spec.rows,
              "rows {}+{} of {}'s {}", placement.row_begin, placement.row_count, spec.name, spec.rows);
  ATOLL_CHECK(whole || !placement.everywhere(), "every rank holds the same slice of {}", spec.name);
  Entry entry{spec, std::move(placement), layer, held_, 0};
  entry.spec.name = "layers." + std::to_string(layer) + "." + spec.name;
  entry.count = entry.placement.row_count * spec.cols;
  held_ += entry.count;
  entries_.push_back(std::move(entry));
}

bool Parameters::everywhere() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const Entry& e) { return e.placement.everywhere(); });
}

Index Parameters::whole_trainable() const {
  Index count = 0;
  for (const Entry& e : entries_) count += e.spec.trainable ? e.spec.rows * e.spec.cols : 0;
  return count;
}

const Parameters::Entry& Parameters::entry(int layer, int index) const {
  ATOLL_CHECK(layer >= 0 && layer < int(by_layer_.size()), "layer {}", layer);
  ATOLL_CHECK(index >= 0 && index < count_in(layer), "parameter {} of layer {}", index, layer);
  return entries_[std::size_t(by_layer_[std::size_t(layer)][std::size_t(index)])];
}

MatrixView Parameters::value(int layer, int index) {
  const Entry& e = entry(layer, index);
  return {values_.data() + e.offset, e.placement.row_count, e.spec.cols};
}

ConstMatrixView Parameters::value(int layer, int index) const {
  const Entry& e = entry(layer, index);
  return {values_.data() + e.offset, e.placement.row_count, e.spec.cols};
}

MatrixView Parameters::gradient(int layer, int index) {
  const Entry& e = entry(layer, index);
  ATOLL_CHECK(e.spec.trainable, "{} has no gradient", e.spec.name);
  return {gradients_.data() + e.offset, e.placement.row_count, e.spec.cols};
}

}  // namespace atl
