#include "strategies/dgs/explainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

constexpr double kArcSize = 0.005, kArcEntropy = 1, kFeatureSize = 1, kFeatureEntropy = 0.1;

double sigmoid(double value) {
  return 1 / (1 + std::exp(-value));
}

double log_1_exp(double value) {
  return std::max(value, 0.0) + std::log1p(std::exp(-std::abs(value)));
}

}  // namespace

Explainer::Mask::Mask(Index size)
    : values(std::size_t(size)),
      first(std::size_t(size)),
      gradient(std::size_t(size)),
      open(std::size_t(size)) {
  restart();
}

void Explainer::Mask::restart() {
  for (auto* each : {&values, &first}) std::ranges::fill(*each, 0);
  second = 0;
  std::ranges::fill(open, Real(0.5));
}

/// With s = σ(m): d s = s (1 − s), and d H(s) = −m s (1 − s).
double Explainer::Mask::regularise(double size, double entropy) {
  double sum = 0;
  const double each = values.empty() ? 0 : 1 / double(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double m = values[i], s = sigmoid(m);
    sum += size * s + entropy * (log_1_exp(m) - m * s);
    gradient[i] += each * s * (1 - s) * (size - entropy * m);
  }
  return each * sum;
}

void Explainer::Mask::step(int step, double rate) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kTiny = 1e-8;
  const double of_first = 1 - std::pow(kFirst, step), of_second = 1 - std::pow(kSecond, step);
  double squares = 0;
  for (const double g : gradient) squares += g * g;
  second = kSecond * second + (1 - kSecond) * squares / std::max(1.0, double(values.size()));
  const double by = rate / of_first / (std::sqrt(second / of_second) + kTiny);
  for (std::size_t i = 0; i < values.size(); ++i) {
    first[i] = kFirst * first[i] + (1 - kFirst) * gradient[i];
    values[i] -= by * first[i];
    open[i] = Real(sigmoid(values[i]));
  }
}

Explainer::Explainer(const Model& model, const Parameters& parameters, std::span<const VertexId> ids,
                     Matrix features, const ExplainerOptions& options)
    : model_(model),
      parameters_(parameters),
      options_(options),
      star_(ids, model.needs),
      pass_(ctx_, model, star_),
      runner_(ctx_, model, nullptr),
      memory_(Device::kCpu, model, {0, int(model.layers.size())}, Passes::kTraining),
      features_(std::move(features)),
      masked_(features_.rows(), features_.cols()),
      d_masked_(features_.rows(), features_.cols()),
      arcs_(star_.others()),
      columns_(features_.cols()),
      label_(std::size_t(model.layers.back()->spec().out)) {
  ATOLL_CHECK(features_.rows() == star_.rows(), "features of {} rows, {} in the star", features_.rows(),
              star_.rows());
  memory_.store_reals();  // so that the host can read them
  memory_.shape(pass_.rows());
  Index trainable = 0;
  for (const Parameters::Entry& entry : parameters.entries())
    if (entry.spec.trainable) trainable += entry.count;
  d_weights_.resize(1, trainable);
}

WeightVersion Explainer::version_of(MatrixView weights) {
  return {&parameters_, weights.data, weights.data + d_weights_.cols(), d_weights_.data()};
}

ConstMatrixView Explainer::logits(MatrixView weights, std::span<const Real> arcs,
                                  std::span<const Real> features) {
  for (Index r = 0; r < features_.rows(); ++r) {
    const Real* const from = features_.view().row(r);
    Real* const to = masked_.view().row(r);
    for (Index c = 0; c < features_.cols(); ++c) to[c] = from[c] * features[std::size_t(c)];
  }
  pass_.mask(arcs);
  runner_.forward(pass_, version_of(weights), memory_, {Rows(ConstMatrixView(masked_)), {}});
  return memory_.output(int(model_.layers.size()) - 1);
}

void Explainer::choose_label(MatrixView weights, std::span<const double> predicted) {
  std::ranges::copy(predicted, label_.begin());
  if (predicted.empty()) {
    std::ranges::fill(arcs_.open, Real(1));
    std::ranges::fill(columns_.open, Real(1));
    const ConstMatrixView z = logits(weights, arcs_.open, columns_.open);
    for (Index c = 0; c < z.cols; ++c)
      label_[std::size_t(c)] = options_.multi_label ? sigmoid(double(z.at(0, c))) : double(z.at(0, c));
  }
  const double best = *std::ranges::max_element(label_);
  bool found = false;
  for (double& each : label_)
    each = options_.multi_label ? (each > 0.5 ? 1 : 0) : each == best && !std::exchange(found, true) ? 1 : 0;
}

/// −log p of the label; with several labels, the mean over classes.
double Explainer::loss_of_logits(ConstMatrixView z, MatrixView d) const {
  double loss = 0;
  if (options_.multi_label) {
    for (Index c = 0; c < z.cols; ++c) {
      const double value = double(z.at(0, c)), y = label_[std::size_t(c)];
      loss += (log_1_exp(value) - y * value) / double(z.cols);
      d.at(0, c) = Real((sigmoid(value) - y) / double(z.cols));
    }
    return loss;
  }
  double most = double(z.at(0, 0)), sum = 0;
  for (Index c = 1; c < z.cols; ++c) most = std::max(most, double(z.at(0, c)));
  for (Index c = 0; c < z.cols; ++c) sum += std::exp(double(z.at(0, c)) - most);
  for (Index c = 0; c < z.cols; ++c) {
    const double log_p = double(z.at(0, c)) - most - std::log(sum), y = label_[std::size_t(c)];
    loss -= y * log_p;
    d.at(0, c) = Real(std::exp(log_p) - y);
  }
  return loss;
}

double Explainer::loss_of_prediction(MatrixView weights, std::span<const Real> arcs,
                                     std::span<const Real> features, std::span<double> d_arcs,
                                     std::span<double> d_features) {
  const double loss = loss_of_logits(logits(weights, arcs, features), memory_.d_output());
  std::ranges::fill(pass_.d_mask(), 0);
  fill(ctx_, 0, d_weights_);
  runner_.backward(pass_, version_of(weights), memory_, {Rows(ConstMatrixView(masked_)), {}},
                   {d_masked_.view(), {}, {}}, nullptr);
  for (std::size_t u = 0; u < arcs.size(); ++u)
    d_arcs[u] = pass_.d_mask()[u] * double(arcs[u]) * (1 - double(arcs[u]));
  std::ranges::fill(d_features, 0);
  for (Index r = 0; r < features_.rows(); ++r) {
    const Real *const d = d_masked_.view().row(r), *const x = features_.view().row(r);
    for (Index c = 0; c < features_.cols(); ++c) d_features[std::size_t(c)] += double(d[c]) * double(x[c]);
  }
  for (std::size_t c = 0; c < features.size(); ++c)
    d_features[c] *= double(features[c]) * (1 - double(features[c]));
  return loss;
}

/// Fails where a mask isn't finite. With NaNs, neighbours would still be drawn and columns chosen, but at
/// random.
void Explainer::check_finite(double value) const {
  if (std::isfinite(value)) return;
  fail(
      "strategy.dgs: the explanation isn't finite: its star sums over {} {} of other ranks, and a layer's values there are "
      "more than a number holds (set model.norm or dataset.normaliseFeatures: row, or strategy.dgs.vertices and features: "
      "random, which explain nothing)",
      star_.others(), star_.others() == 1 ? "vertex" : "vertices");
}

void Explainer::explain(MatrixView weights, std::span<const double> predicted, Explanation& out,
                        const std::atomic<bool>& stop) {
  choose_label(weights, predicted);
  arcs_.restart(), columns_.restart();
  out.epochs = 0;
  for (int epoch = 1; epoch <= options_.epochs && !stop.load(std::memory_order_relaxed); ++epoch) {
    out.loss = loss_of_prediction(weights, arcs_.open, columns_.open, arcs_.gradient, columns_.gradient);
    out.loss += arcs_.regularise(kArcSize, kArcEntropy) + columns_.regularise(kFeatureSize, kFeatureEntropy);
    if (epoch == 1) out.first_loss = out.loss;
    check_finite(out.loss);
    if (out.loss <= options_.threshold) break;
    arcs_.step(epoch, options_.learning_rate);
    columns_.step(epoch, options_.learning_rate);
    out.epochs = epoch;
  }
  // The last step's gradient may overflow where the loss before it doesn't.
  for (const Mask* mask : {&arcs_, &columns_})
    check_finite(std::accumulate(mask->open.begin(), mask->open.end(), 0.0));
  out.vertices.assign(arcs_.open.begin(), arcs_.open.end());
  out.features.assign(columns_.open.begin(), columns_.open.end());
}

Index Explainer::bytes() const {
  ScheduleBytes memory;
  memory_.count(memory);
  const auto mask = [](const Mask& m) {
    return Index(m.values.size()) * Index(3 * sizeof(double) + sizeof(Real));
  };
  return memory.total() + workspace_.bytes() + star_.bytes() + pass_.bytes() + features_.held_bytes() +
         masked_.held_bytes() + d_masked_.held_bytes() + d_weights_.held_bytes() + mask(arcs_) +
         mask(columns_);
}

}  // namespace atl
