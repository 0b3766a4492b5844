#include "model/parameters.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "tensor/copies.h"

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

/// Fills the held rows. The draw of element (r, c) is keyed by its place in the whole parameter.
void initialise(const ParameterSpec& spec, const Placement& placement, std::uint64_t seed, Real* out) {
  const double bound = bound_of(spec), constant = spec.init == Init::kOne ? 1 : 0;
  const Draws draws(seed ^ name_key(spec.name), Purpose::kWeights);
  for (const RowRange& range : placement.rows) {
    for (Index row = range.begin; row < range.begin + range.count; ++row) {
      for (Index c = 0; c < spec.cols; ++c) {
        const double unit = bound > 0 ? 2 * draws.uniform_at(std::uint64_t(row), std::uint64_t(c)) - 1 : 0;
        *out++ = Real(constant + bound * unit);
      }
    }
  }
}

}  // namespace

Index Placement::held(Index all) const {
  Index count = 0;
  for (const RowRange& range : rows) count += range.count < 0 ? all - range.begin : range.count;
  return count;
}

std::vector<RowRange> rows_of_input(const ParameterSpec& spec, Index first_column, Index columns) {
  if (spec.input_blocks == 0) return {RowRange{}};
  const Index whole = spec.rows / spec.input_blocks;
  std::vector<RowRange> rows;
  for (int block = 0; block < spec.input_blocks; ++block)
    rows.push_back({block * whole + first_column, columns});
  return rows;
}

Parameters::Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed)
    : Parameters(layers, seed, [](int, const ParameterSpec&) { return Placement(); }) {}

Parameters::Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed,
                       PlaceParameter place, Device device) {
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
  values_.resize(1, held_, device);
  gradients_.resize(1, trainable_, device);
  gradients_.zero();
  if (device == Device::kDry) return;
  HostArray values(device, values_.data(), held_);
  for (const Entry& e : entries_) initialise(e.spec, e.placement, seed, values.data() + e.offset);
  values.put();
}

void Parameters::add(const ParameterSpec& spec, Placement placement, int layer) {
  Index next = 0;
  for (RowRange& range : placement.rows) {
    if (range.count < 0) range.count = spec.rows - range.begin;
    ATOLL_CHECK(range.begin >= next && range.begin + range.count <= spec.rows, "rows {}+{} of {}'s {}",
                range.begin, range.count, spec.name, spec.rows);
    next = range.begin + range.count;
  }
  const Index rows = placement.held(spec.rows);
  ATOLL_CHECK(rows == spec.rows || !placement.everywhere(), "every rank holds the same slice of {}",
              spec.name);
  Entry entry{spec, std::move(placement), rows, layer, held_, 0};
  entry.spec.name = "layers." + std::to_string(layer) + "." + spec.name;
  entry.count = rows * spec.cols;
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
  return {values_.data() + e.offset, e.rows, e.spec.cols};
}

ConstMatrixView Parameters::value(int layer, int index) const {
  const Entry& e = entry(layer, index);
  return {values_.data() + e.offset, e.rows, e.spec.cols};
}

MatrixView Parameters::gradient(int layer, int index) {
  const Entry& e = entry(layer, index);
  ATOLL_CHECK(e.spec.trainable, "{} has no gradient", e.spec.name);
  return {gradients_.data() + e.offset, e.rows, e.spec.cols};
}

ConstMatrixView WeightVersion::value(int layer, int index) const {
  const Parameters::Entry& e = parameters->entry(layer, index);
  const Real* at = e.spec.trainable ? trainable + e.offset : statistics + (e.offset - parameters->trainable_);
  return {at, e.rows, e.spec.cols};
}

MatrixView WeightVersion::statistic(int layer, int index) const {
  const Parameters::Entry& e = parameters->entry(layer, index);
  ATOLL_CHECK(!e.spec.trainable, "{} is no statistic", e.spec.name);
  return {statistics + (e.offset - parameters->trainable_), e.rows, e.spec.cols};
}

MatrixView WeightVersion::gradient(int layer, int index) const {
  const Parameters::Entry& e = parameters->entry(layer, index);
  ATOLL_CHECK(e.spec.trainable, "{} has no gradient", e.spec.name);
  return {gradients + e.offset, e.rows, e.spec.cols};
}

}  // namespace atl
