// Losses over selected rows, the counts that metrics are made of, and the optimisers' steps.
#include "tensor/reference/reference.h"

namespace atl::reference {
namespace {

/// The predicted class: the largest logit, the first if several are equal.
Index predicted(ConstMatrixView logits, Index row) {
  Index best = 0;
  for (Index c = 1; c < logits.cols; ++c)
    if (logits.at(row, c) > logits.at(row, best)) best = c;
  return best;
}

/// The gradient of rows that aren't selected is 0, if it is wanted.
void put_unselected(Expected& expected, std::span<const VertexId> rows, MatrixView d_logits) {
  if (d_logits.empty()) return;
  for (Index r = 0; r < d_logits.rows; ++r)
    for (Index c = 0; c < d_logits.cols && !std::ranges::binary_search(rows, VertexId(r)); ++c)
      expected.set(d_logits, r, c, 0);
}

void put(Expected& expected, LabelCounts* counts, Index right, Index wrong) {
  expected.set(&counts->right, right), expected.set(&counts->wrong, wrong);
}
void put(Expected& expected, std::span<ClassCounts> counts, const std::vector<ClassCounts>& found) {
  for (std::size_t c = 0; c < counts.size(); ++c) {
    expected.set(&counts[c].hits, found[c].hits);
    expected.set(&counts[c].predicted, found[c].predicted);
    expected.set(&counts[c].actual, found[c].actual);
  }
}

}  // namespace

/// logits, d_logits (n, C), labels (n).
void cross_entropy(Expected& expected, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  put_unselected(expected, rows, d_logits);
  Sum loss;
  loss += *sum;
  for (const VertexId r : rows) {
    double top = logits.at(r, 0);
    for (Index c = 0; c < logits.cols; ++c) top = std::max(top, double(logits.at(r, c)));
    Sum total;
    for (Index c = 0; c < logits.cols; ++c) total += exp(Near(double(logits.at(r, c))) - top);
    loss += log(total.total()) - (Near(double(logits.at(r, labels[r]))) - top);
    for (Index c = 0; c < logits.cols && !d_logits.empty(); ++c) {
      const Near probability = exp(Near(double(logits.at(r, c))) - top) / total.total();
      expected.set(d_logits, r, c, (probability - (c == labels[r] ? 1 : 0)) * double(scale));
    }
  }
  expected.set(sum, loss.total(kDoubleRounding));
}

/// logits, targets, d_logits (n, C).
void binary_cross_entropy(Expected& expected, ConstMatrixView logits, View<const std::uint8_t> targets,
                          std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  put_unselected(expected, rows, d_logits);
  Sum loss;
  loss += *sum;
  for (const VertexId r : rows)
    for (Index c = 0; c < logits.cols; ++c) {
      const double x = logits.at(r, c), target = targets.at(r, c) != 0 ? 1 : 0;
      const double of_one = std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0);  // log(1 + e^x)
      loss += in_doubles(of_one - target * x, of_one + std::abs(x));
      if (d_logits.empty()) continue;
      const double sigmoid = 1 / (1 + std::exp(-x));
      expected.set(d_logits, r, c, (Near(sigmoid) - target) * double(scale));
    }
  expected.set(sum, loss.total(kDoubleRounding));
}

void count_classes(Expected& expected, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, LabelCounts* counts) {
  Index right = 0;
  for (const VertexId r : rows) right += predicted(logits, r) == labels[r] ? 1 : 0;
  put(expected, counts, right, Index(rows.size()) - right);
}

void count_labels(Expected& expected, ConstMatrixView logits, View<const std::uint8_t> targets,
                  std::span<const VertexId> rows, LabelCounts* counts) {
  Index right = 0, wrong = 0;
  for (const VertexId r : rows)
    for (Index c = 0; c < logits.cols; ++c) {
      const bool is = targets.at(r, c) != 0, says = logits.at(r, c) > 0;
      right += is && says ? 1 : 0;
      wrong += is != says ? 1 : 0;
    }
  put(expected, counts, right, wrong);
}

void count_by_class(Expected& expected, ConstMatrixView logits, const std::int32_t* labels,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  std::vector<ClassCounts> found(counts.size());
  for (const VertexId r : rows) {
    const auto says = std::size_t(predicted(logits, r)), is = std::size_t(labels[r]);
    found[says].predicted += 1;
    found[is].actual += 1;
    found[is].hits += says == is ? 1 : 0;
  }
  put(expected, counts, found);
}

void count_by_label(Expected& expected, ConstMatrixView logits, View<const std::uint8_t> targets,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  std::vector<ClassCounts> found(counts.size());
  for (const VertexId r : rows)
    for (Index c = 0; c < logits.cols; ++c) {
      const bool is = targets.at(r, c) != 0, says = logits.at(r, c) > 0;
      found[std::size_t(c)].predicted += says ? 1 : 0;
      found[std::size_t(c)].actual += is ? 1 : 0;
      found[std::size_t(c)].hits += is && says ? 1 : 0;
    }
  put(expected, counts, found);
}

void count_confusions(Expected& expected, ConstMatrixView logits, const std::int32_t* labels,
                      std::span<const VertexId> rows, std::span<std::int64_t> counts) {
  std::vector<std::int64_t> found(counts.size());
  for (const VertexId r : rows) found[std::size_t(labels[r] * logits.cols + predicted(logits, r))] += 1;
  for (std::size_t i = 0; i < counts.size(); ++i) expected.set(&counts[i], found[i]);
}

void begin_step(Expected& expected, double learning_rate, std::int64_t update, StepState* state) {
  expected.set(&state->learning_rate, learning_rate);
  expected.set(&state->update, update);
  for (double* each : {&state->loss, &state->not_finite, &state->squares[0], &state->squares[1]})
    expected.set(each, 0);
}

/// gradient, m, v, weight (count). Kingma & Ba 2015, algorithm 1; decoupled: Loshchilov & Hutter 2019,
/// algorithm 2.
void adam(Expected& expected, const AdamRule& rule, const StepState* state, Index count, const Real* gradient,
          Real* m, Real* v, Real* weight) {
  if (state->not_finite > 0) return;
  const double rate = state->learning_rate, update = double(state->update);
  const auto first = Near(rate / (1 - std::pow(rule.beta1, update)));
  const auto second = Near(1 / std::sqrt(1 - std::pow(rule.beta2, update)));
  const Near beta1 = Near(rule.beta1) * 1, beta2 = Near(rule.beta2) * 1;  // rounded to Reals
  for (Index i = 0; i < count; ++i) {
    const Near w = double(weight[i]);
    const Near g =
        rule.decoupled ? Near(double(gradient[i])) : Near(double(gradient[i])) + w * rule.weight_decay;
    const Near mean = beta1 * double(m[i]) + (Near(1) - beta1) * g;
    const Near square = beta2 * double(v[i]) + (Near(1) - beta2) * g * g;
    const Near step = first * mean / (sqrt(square) * second + rule.epsilon);
    expected.set(m + i, mean);
    expected.set(v + i, square);
    expected.set(weight + i, (rule.decoupled ? w * (1 - rate * rule.weight_decay) : w) - step);
  }
}

/// gradient, velocity, weight (count).
void sgd(Expected& expected, const SgdRule& rule, const StepState* state, Index count, const Real* gradient,
         Real* velocity, Real* weight) {
  if (state->not_finite > 0) return;
  for (Index i = 0; i < count; ++i) {
    const Near w = double(weight[i]);
    const Near speed =
        Near(double(velocity[i])) * rule.momentum + double(gradient[i]) + w * rule.weight_decay;
    expected.set(velocity + i, speed);
    expected.set(weight + i, w - speed * state->learning_rate);
  }
}

/// x (count).
void squared_norm(Expected& expected, Index count, const Real* x, double* sum) {
  Sum squares;
  squares += *sum;
  for (Index i = 0; i < count; ++i)
    squares += in_doubles(double(x[i]) * double(x[i]), double(x[i]) * double(x[i]));
  expected.set(sum, squares.total(kDoubleRounding));
}

void clip(Expected& expected, double longest, const StepState* state, MatrixView x) {
  const double length = std::sqrt(state->squares[0] + state->squares[1]);
  if (state->not_finite != 0 || length <= longest) return;
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c) expected.set(x, r, c, Near(at(x, r, c)) * (longest / length));
}

void count_non_finite(Expected& expected, ConstMatrixView x, double* count, const double* unless) {
  if (unless != nullptr && std::isfinite(*unless)) return;
  double found = 0;
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c) found += std::isfinite(at(x, r, c)) ? 0 : 1;
  expected.set(count, {*count + found, kDoubleRounding * (found + std::abs(*count))});
}

}  // namespace atl::reference
