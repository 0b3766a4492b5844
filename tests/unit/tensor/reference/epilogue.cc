// The epilogue of a product's rows, there and back, and sums over rows.
#include <concepts>

#include "tensor/reference/reference.h"

namespace atl::reference {

using Norm = Epilogue::Norm;

Near factor(const Dropout& d, Index row, Index column) {
  if (!d || row < d.begin || row >= d.end) return 1;
  const auto vertex = std::uint64_t(d.ids[std::size_t(row)]);
  const bool drops = d.draws.bits_at(vertex, std::uint32_t(d.first_column + column)) < drop_threshold(d.rate);
  return drops ? Near(0) : Near(1) / (Near(1) - Near(d.rate));
}

namespace {

/// What a norm takes from its input (cols), the bias added: x̂ = (input − mean) · rstd.
struct Normalised {
  Near mean = 0, rstd = 1;  // layer norm's
  std::vector<Near> x;

  Normalised(const Epilogue& e, const std::vector<Near>& input) {
    const auto cols = double(input.size());
    if (e.norm == Norm::kLayer) {
      Sum sum, squares;
      for (const Near& each : input) sum += each;
      mean = sum.total() / cols;
      for (const Near& each : input) squares += (each - mean) * (each - mean);
      find_rstd(squares.total() / cols);
    }
    apply(e, input);
  }
  /// With layer norm's statistics as they were on the way there.
  Normalised(const Epilogue& e, const std::vector<Near>& input, Near mean_, Near rstd_)
      : mean(mean_), rstd(rstd_) {
    apply(e, input);
  }

 private:
  void find_rstd(Near variance) {
    rstd = through([](double v) { return 1 / std::sqrt(std::max(v, 0.0) + kNormEpsilon); }, variance, 2);
  }
  void apply(const Epilogue& e, const std::vector<Near>& input) {
    for (std::size_t c = 0; c < input.size(); ++c)
      x.push_back(e.norm == Norm::kBatch ? (input[c] - double(e.col_mean[c])) * double(e.col_rstd[c])
                                         : (input[c] - mean) * rstd);
  }
};

Near activated(Near v, Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return v.value < -v.error ? Near(0) : Near(std::max(v.value, 0.0), v.error);
    case Activation::kElu:
      return v.value > v.error ? v : exp(v) - 1;
    case Activation::kLeakyRelu:
      return leaky(v, double(kLeakySlope));
    case Activation::kNone:
      break;
  }
  return v;
}

/// The gradient before dropout and activation, from the one after them and their result y.
Near undone(const Epilogue& e, Near d, double y, Index r, Index c) {
  const Near kept = factor(e.dropout, r, c);
  d = d * kept;
  switch (e.activation) {
    case Activation::kRelu:
      return y > 0 ? d : Near(0);
    case Activation::kElu:  // y is 0 where it was dropped
      return y < 0 ? d * (Near(y) / kept + 1) : d;
    case Activation::kLeakyRelu:
      return y < 0 ? d * double(kLeakySlope) : d;
    case Activation::kNone:
      break;
  }
  return d;
}

/// x̂ of row r of a norm's input `pre`.
Normalised normalised(const Epilogue& e, ConstMatrixView pre, Index r) {
  std::vector<Near> input;
  for (Index c = 0; c < pre.cols; ++c)
    input.push_back(e.bias == nullptr ? Near(at(pre, r, c)) : Near(at(pre, r, c)) + double(e.bias[c]));
  if (e.norm == Norm::kLayer && !e.row_stats.empty())
    return {e, input, double(e.row_stats.at(r, 0)), double(e.row_stats.at(r, 1))};
  return {e, input};
}

/// to[c] += sums[c], if anybody wants it.
template <std::same_as<float> T>
void put_added(Expected& expected, T* to, const std::vector<Sum>& sums) {
  for (std::size_t c = 0; to != nullptr && c < sums.size(); ++c)
    expected.set(to + c, sums[c].total() + double(to[c]));
}
/// to[c] += sums[c], kept in double precision.
void put_added(Expected& expected, double* to, const std::vector<Sum>& sums) {
  for (std::size_t c = 0; to != nullptr && c < sums.size(); ++c) {
    const Near sum = sums[c].total(kDoubleRounding);
    expected.set(to + c, {sum.value + to[c], sum.error + kDoubleRounding * (sum.size() + std::abs(to[c]))});
  }
}

bool is_nothing(const Epilogue& e) {
  return e.bias == nullptr && e.norm == Norm::kNone && e.residual.empty() &&
         e.activation == Activation::kNone && !e.dropout;
}

}  // namespace

void put_finished(Expected& expected, const Epilogue& e, Index r, std::vector<Near> values, MatrixView out) {
  if (out.cols == 0) return;
  const bool halves = in_halves(out) && !is_nothing(e);
  for (Index c = 0; c < out.cols; ++c) {
    Near& v = values[std::size_t(c)];
    if (halves) v = halved(v);
    if (e.bias != nullptr) v = v + (halves ? maybe_halved(double(e.bias[c])) : Near(double(e.bias[c])));
  }
  if (e.norm != Norm::kNone) {
    const Normalised norm(e, values);
    values = norm.x;
    if (e.norm == Norm::kLayer && !e.row_stats.empty())
      expected.set(e.row_stats, r, 0, norm.mean), expected.set(e.row_stats, r, 1, norm.rstd);
  }
  for (Index c = 0; c < out.cols; ++c) {
    Near v = values[std::size_t(c)];
    if (e.norm != Norm::kNone && e.gain != nullptr) v = v * double(e.gain[c]);
    if (e.norm != Norm::kNone && e.shift != nullptr) v = v + double(e.shift[c]);
    if (!e.residual.empty()) v = v + Near(at(e.residual, r, c)) * double(e.residual_scale);
    v = activated(v, e.activation);
    if (e.dropout) v = v * factor(e.dropout, r, c);
    expected.set(out, r, c, v);
  }
}

/// x (n, m), y (n, m).
void apply(Expected& expected, const Epilogue& epilogue, ConstMatrixView x, MatrixView y) {
  for (Index r = 0; r < y.rows; ++r) {
    std::vector<Near> values;
    for (Index c = 0; c < y.cols; ++c) values.push_back(at(x, r, c));
    put_finished(expected, epilogue, r, std::move(values), y);
  }
}

/// pre, y, dy (n, m); col_sums (2, m). Let g be the gradient at the norm's output. The one at its input is
/// (g − mean of g − x̂ · mean of g·x̂) / σ. Means are of the row (layer norm) or of the column (batch norm).
void apply_backward(Expected& expected, const Epilogue& e, ConstMatrixView pre, ConstMatrixView y,
                    MatrixView dy, const EpilogueGradient& gradient, std::span<const double> col_sums,
                    double count) {
  const auto cols = std::size_t(dy.cols);
  std::vector<Sum> bias(cols), gain(cols), shift(cols);
  for (Index r = 0; r < dy.rows; ++r) {
    std::vector<Near> d;  // (cols)
    for (Index c = 0; c < dy.cols; ++c) d.push_back(undone(e, at(dy, r, c), at(y, r, c), r, c));
    for (Index c = 0; c < gradient.residual.cols; ++c)
      expected.set(gradient.residual, r, c,
                   d[std::size_t(c)] * double(e.residual_scale) + at(gradient.residual, r, c));
    if (e.norm != Norm::kNone) {
      const Normalised norm = normalised(e, pre, r);
      Sum row, row_x;
      for (std::size_t c = 0; c < cols; ++c) {
        shift[c] += d[c], gain[c] += d[c] * norm.x[c];
        if (e.gain != nullptr) d[c] = d[c] * double(e.gain[c]);
        row += d[c], row_x += d[c] * norm.x[c];
        if (in_halves(dy)) d[c] = halved(d[c]);  // it waits there for the means
      }
      for (std::size_t c = 0; c < cols; ++c) {
        const bool batch = e.norm == Norm::kBatch;
        const Near mean = batch ? Near(col_sums[c]) / count : row.total() / double(cols);
        const Near mean_x = batch ? Near(col_sums[cols + c]) / count : row_x.total() / double(cols);
        const Near rstd = batch ? Near(double(e.col_rstd[c])) : norm.rstd;
        d[c] = (d[c] - mean - norm.x[c] * mean_x) * rstd;
      }
    }
    for (Index c = 0; c < dy.cols; ++c) {
      expected.set(dy, r, c, d[std::size_t(c)]);
      bias[std::size_t(c)] += in_halves(dy) ? halved(d[std::size_t(c)]) : d[std::size_t(c)];
    }
  }
  put_added(expected, gradient.bias, bias);
  put_added(expected, gradient.gain, gain);
  put_added(expected, gradient.shift, shift);
}

void zero_sums(Expected& expected, std::span<double> sums) {
  for (double& each : sums) expected.set(&each, 0);
}

/// x (n, m), sums (2, m), weights (n) or none.
void column_sums(Expected& expected, ConstMatrixView x, double* sums, std::span<const Real> weights) {
  std::vector<Sum> all(std::size_t(2 * x.cols));
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c) {
      const double value = at(x, r, c), weight = weights.empty() ? 1 : double(weights[std::size_t(r)]);
      all[std::size_t(c)] += in_doubles(weight * value, std::abs(weight * value));
      all[std::size_t(x.cols + c)] += in_doubles(weight * value * value, std::abs(weight) * value * value);
    }
  put_added(expected, sums, all);
}

/// pre, y, dy (n, m), sums (2, m).
void column_sums_backward(Expected& expected, const Epilogue& e, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums) {
  std::vector<Sum> all(std::size_t(2 * dy.cols));
  for (Index r = 0; r < dy.rows; ++r) {
    const Normalised norm = normalised(e, pre, r);
    for (Index c = 0; c < dy.cols; ++c) {
      Near d = undone(e, at(dy, r, c), at(y, r, c), r, c);
      if (e.gain != nullptr) d = d * double(e.gain[c]);
      all[std::size_t(c)] += d;
      all[std::size_t(dy.cols + c)] += d * norm.x[std::size_t(c)];
    }
  }
  put_added(expected, sums, all);
}

/// x (n, m), out (m).
void sum_rows(Expected& expected, ConstMatrixView x, Real* out, bool accumulate) {
  for (Index c = 0; c < x.cols; ++c) {
    Sum sum;
    if (accumulate) sum += double(out[c]);
    for (Index r = 0; r < x.rows; ++r) sum += at(x, r, c);
    expected.set(out + c, sum.total());
  }
}

}  // namespace atl::reference
