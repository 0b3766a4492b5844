#include "model/decoder.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"

namespace atl {
namespace {

constexpr Index kBlock = 256;  // pairs that a thread computes at a time, forward
// Columns that a thread computes at a time, backward. Threads divide columns and not pairs, so that no two
// add to the same element of a row.
constexpr Index kColumns = 16;

/// Calls work(begin, end) for each block of 0 … count − 1, on the threads of the pool.
template <class Work>
void by_block(Context& host, Index count, Index block, const Work& work) {
  host.pool->run((count + block - 1) / block,
                 [&](Index b, int) { work(b * block, std::min(count, (b + 1) * block)); });
}

}  // namespace

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

std::vector<ParameterSpec> decoder_parameters(const LinkSpec& spec, Index width) {
  std::vector<ParameterSpec> all;
  for (int l = 0; spec.decoder == DecoderKind::kMlp && l < spec.decoder_layers; ++l) {
    const Index out = l + 1 < spec.decoder_layers ? width : 1;
    const std::string number = std::to_string(l);
    for (const auto& [name, rows] : {std::pair("weight", width), std::pair("bias", Index(1))})
      all.push_back({.name = "decoder." + number + "." + name,
                     .rows = rows,
                     .cols = out,
                     .init = Init::kFanIn,
                     .decay = DecayGroup::kDense,
                     .fan_in = width});
  }
  return all;
}

Index decoder_bytes(const LinkSpec& spec, Index width, Index pairs) {
  const Index rows = std::min(pairs, kDecodedPairs);
  const Index matrices = spec.decoder == DecoderKind::kMlp ? spec.decoder_layers + 2 : 0;
  return Index(sizeof(Real)) * rows * (2 + matrices * width);
}

Decoder::Decoder(const LinkSpec& spec, Index width, int layer)
    : is_mlp_(spec.decoder == DecoderKind::kMlp),
      width_(width),
      layers_(spec.decoder_layers),
      layer_(layer),
      hidden_(std::size_t(layers_ - 1)) {
  host_.reserve(std::size_t(layers_));
}

void Decoder::read_weights(const WeightVersion& weights, bool trains) {
  host_.clear();
  const Device device = weights.parameters->device();
  const auto values = [&](int index) {
    const ConstMatrixView v = weights.value(layer_, index);
    return HostArray(device, const_cast<Real*>(v.data), v.rows * v.cols);  // only read
  };
  const auto gradients = [&](int index) {
    if (!trains) return HostArray(device, nullptr, 0);
    const MatrixView g = weights.gradient(layer_, index);
    return HostArray(device, g.data, g.rows * g.cols);
  };
  for (int l = 0; is_mlp_ && l < layers_; ++l)
    host_.push_back({width_, l + 1 < layers_ ? width_ : 1, values(2 * l), values(2 * l + 1), gradients(2 * l),
                     gradients(2 * l + 1)});
}

/// Writes scores_ of a piece of pairs and, for mlp, what backward reads.
void Decoder::forward(Context& host, const EndRows& rows, const EndPairs& pairs) {
  const Index count = pairs.size();
  scores_.resize(count, 1);
  if (is_mlp_) product_.resize(count, width_);
  by_block(host, count, kBlock, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Real *a = rows.row(pairs.sources[std::size_t(i)]),
                 *b = rows.row(pairs.destinations[std::size_t(i)]);
      Real sum = 0;
      for (Index c = 0; c < width_ && !is_mlp_; ++c) sum += a[c] * b[c];
      for (Index c = 0; c < width_ && is_mlp_; ++c) product_.at(i, c) = a[c] * b[c];
      scores_.at(i, 0) = sum;
    }
  });
  for (int l = 0; is_mlp_ && l < layers_; ++l) {
    HostLayer& layer = host_[std::size_t(l)];
    const bool is_last = l + 1 == layers_;
    if (!is_last) hidden_[std::size_t(l)].resize(count, width_);
    Matrix &in = l == 0 ? product_ : hidden_[std::size_t(l) - 1],
           &out = is_last ? scores_ : hidden_[std::size_t(l)];
    gemm(host, in.view(), {layer.weight.data(), layer.in, layer.out}, out.view(), false,
         {.bias = layer.bias.data(), .activation = is_last ? Activation::kNone : Activation::kRelu});
  }
}

/// Computes gradient_, the product's gradient, from d_scores_, and adds to the weights' gradients.
void Decoder::backward(Context& host) {
  for (int l = layers_ - 1; l >= 0; --l) {
    HostLayer& layer = host_[std::size_t(l)];
    const bool is_last = l + 1 == layers_;
    Matrix &in = l == 0 ? product_ : hidden_[std::size_t(l) - 1], &d_out = is_last ? d_scores_ : gradient_;
    gemm_at(host, in.view(), {}, d_out.view(), {layer.d_weight.data(), layer.in, layer.out}, true);
    sum_rows(host, d_out.view(), layer.d_bias.data(), true);
    turn_.resize(in.rows(), width_);
    gemm_bt(host, d_out.view(), {layer.weight.data(), layer.in, layer.out}, turn_.view());
    std::swap(turn_, gradient_);
    if (l == 0) return;
    by_block(host, in.rows(), kBlock, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index c = 0; c < width_; ++c)
          if (in.at(i, c) <= 0) gradient_.at(i, c) = 0;
    });
  }
}

void Decoder::add_to_rows(Context& host, const EndRows& rows, const EndPairs& pairs,
                          const EndGradients& gradients) const {
  by_block(host, width_, kColumns, [&](Index begin, Index end) {
    for (Index i = 0; i < pairs.size(); ++i) {
      const VertexId source = pairs.sources[std::size_t(i)], destination = pairs.destinations[std::size_t(i)];
      const Real *a = rows.row(source), *b = rows.row(destination);
      Real *d_a = gradients.row(source), *d_b = gradients.row(destination);
      const Real score = d_scores_.at(i, 0);
      for (Index c = begin; c < end; ++c) {
        const Real d = is_mlp_ ? gradient_.at(i, c) : score;
        d_a[c] += d * b[c];
        d_b[c] += d * a[c];
      }
    }
  });
}

void Decoder::score(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
                    std::span<Real> scores) {
  read_weights(weights, false);
  for (Index begin = 0; begin < pairs.size(); begin += kDecodedPairs) {
    const Index count = std::min(kDecodedPairs, pairs.size() - begin);
    forward(host, rows, pairs.piece(begin, count));
    std::copy_n(scores_.data(), count, scores.data() + begin);
  }
}

double Decoder::train(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
                      Real scale, const EndGradients& gradients) {
  read_weights(weights, true);
  double sum = 0;
  for (Index begin = 0; begin < pairs.size(); begin += kDecodedPairs) {
    const Index count = std::min(kDecodedPairs, pairs.size() - begin);
    const EndPairs piece = pairs.piece(begin, count);
    forward(host, rows, piece);
    d_scores_.resize(count, 1);
    sum += loss({scores_.data(), std::size_t(count)}, piece.edges, scale,
                {d_scores_.data(), std::size_t(count)});
    if (is_mlp_) backward(host);
    add_to_rows(host, rows, piece, gradients);
  }
  for (HostLayer& layer : host_) layer.d_weight.put(), layer.d_bias.put();
  return sum;
}

double Decoder::loss(std::span<const Real> scores, Index edges, Real scale, std::span<Real> d_scores) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double score = double(scores[i]), sign = Index(i) < edges ? -1 : 1;
    sum += softplus(sign * score);
    if (!d_scores.empty()) d_scores[i] = Real(sign / (1 + std::exp(-sign * score)) * double(scale));
  }
  return sum;
}

}  // namespace atl
