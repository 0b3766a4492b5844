// PipeGCN's recurrence (Wan et al. 2022, algorithm 1 and equations 3 to 5) and BNS-GCN's sampling (Wan et al. 2022, algorithm
// 1), alone and together, on one rank, in dense matrices and plain loops: three graph convolutions without dropout, trained by
// gradient descent. What tests hold the exchanges against.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "train/late_average.h"
#include "train/small_job.h"

namespace atl {

inline Dense product(const Dense& a, const Dense& b) {
  Dense out = zeros(a.size(), b[0].size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
  return out;
}

inline Dense transposed(const Dense& a) {
  Dense out = zeros(a[0].size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) out[j][i] = a[i][j];
  return out;
}

struct StaleGcn {
  virtual ~StaleGcn() = default;

  Dense adjacency;        // D^-½ (A + I) D^-½
  std::vector<int> part;  // (vertices)
  Dense features;
  std::vector<int> labels;  // (vertices); −1: not trained on
  double learning_rate = 0.1;
  std::vector<Dense> weight;              // by convolution
  std::vector<std::vector<double>> bias;  // by convolution
  std::vector<Late> late_rows,
      late_back;      // by convolution; those of the first aren't used: features are sent once
  int staleness = 1;  // epochs by which what crosses is late; 0: none
  int epoch = 0;      // the last one trained
  Dense read;         // the adjacency through which this epoch reads other parts' rows
  /// What the arc (i, j) from another part counts for in the epoch in which j's row was sent; empty: 1.
  std::function<double(int epoch, std::size_t i, std::size_t j)> stands_for;

  std::size_t vertices() const { return features.size(); }
  bool together(std::size_t i, std::size_t j) const { return part[i] == part[j]; }

  /// Σ over arcs that stay within a part, or that cross.
  Dense gathered(const Dense& a, const Dense& rows, bool crossing) const {
    Dense out = zeros(a.size(), rows[0].size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j)
        for (std::size_t c = 0; together(i, j) != crossing && c < rows[0].size(); ++c)
          out[i][c] += a[i][j] * rows[j][c];
    return out;
  }
  static void add(Dense& to, const Dense& what) {
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t j = 0; j < to[i].size(); ++j) to[i][j] += what[i][j];
  }

  /// The adjacency through which rows sent in `sent` are read.
  Dense sampled(int sent) const {
    Dense a = adjacency;
    for (std::size_t i = 0; stands_for && i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j)
        if (a[i][j] != 0 && !together(i, j)) a[i][j] *= stands_for(sent, i, j);
    return a;
  }
  /// What this epoch uses of what crosses, the epoch's own `now` on its way.
  Dense used(Late& late, const Dense& now) const {
    if (staleness == 0) late.arrive(now);
    Dense rows = late.used();
    if (staleness > 0) late.arrive(now);
    return rows;
  }

  /// One epoch; its loss. Rows and gradients that it sends arrive `staleness` epochs later.
  double train() {
    begin_epoch();
    std::vector<Dense> sums, outs;  // by convolution: Â H before the product, and the output
    Dense rows = features;
    for (std::size_t l = 0; l < weight.size(); ++l) {
      Dense sum = gathered(adjacency, rows, false);
      add(sum, l == 0 ? gathered(adjacency, rows, true) : from_others(l, rows));
      Dense out = product(sum, weight[l]);
      for (auto& row : out)
        for (std::size_t c = 0; c < row.size(); ++c) {
          row[c] += bias[l][c];
          if (l + 1 < weight.size()) row[c] = std::max(row[c], 0.0);
        }
      sums.push_back(std::move(sum));
      outs.push_back(out);
      rows = std::move(out);
    }
    Dense d_out = zeros(vertices(), rows[0].size());
    const double loss = cross_entropy(rows, d_out);
    descend(sums, outs, std::move(d_out));
    return loss;
  }

  double cross_entropy(const Dense& logits, Dense& d_logits) const {
    double loss = 0, trained = 0;
    for (const int label : labels) trained += label >= 0;
    for (std::size_t v = 0; v < vertices(); ++v) {
      if (labels[v] < 0) continue;
      double sum = 0;
      for (const double z : logits[v]) sum += std::exp(z);
      for (std::size_t c = 0; c < logits[v].size(); ++c)
        d_logits[v][c] = (std::exp(logits[v][c]) / sum - (int(c) == labels[v])) / trained;
      loss += std::log(sum) - logits[v][std::size_t(labels[v])];
    }
    return loss / trained;
  }

  /// The sum of other parts' rows of layer l's input in this epoch, whose own are `rows`.
  virtual Dense from_others(std::size_t l, const Dense& rows) {
    return gathered(read, used(late_rows[l], rows), true);
  }
  /// The gradients that other parts send of those rows, `d_sum` being the sums'.
  virtual Dense back_from_others(std::size_t l, const Dense& d_sum) {
    return used(late_back[l], gathered(transposed(read), d_sum, true));
  }
  virtual void begin_epoch() { read = sampled(++epoch - staleness); }

  void descend(const std::vector<Dense>& sums, const std::vector<Dense>& outs, Dense d_out) {
    const Dense back = transposed(adjacency);
    for (std::size_t l = weight.size(); l-- > 0;) {
      const Dense d_weight = product(transposed(sums[l]), d_out);
      std::vector<double> d_bias(bias[l].size(), 0.0);
      for (const auto& row : d_out)
        for (std::size_t c = 0; c < row.size(); ++c) d_bias[c] += row[c];
      if (l > 0) {
        const Dense d_sum = product(d_out, transposed(weight[l]));
        Dense d_rows = gathered(back, d_sum, false);
        add(d_rows, back_from_others(l, d_sum));
        for (std::size_t i = 0; i < vertices(); ++i)
          for (std::size_t c = 0; c < d_rows[i].size(); ++c)
            if (outs[l - 1][i][c] <= 0) d_rows[i][c] = 0;
        d_out = std::move(d_rows);
      }
      for (std::size_t i = 0; i < weight[l].size(); ++i)
        for (std::size_t c = 0; c < weight[l][i].size(); ++c)
          weight[l][i][c] -= learning_rate * d_weight[i][c];
      for (std::size_t c = 0; c < d_bias.size(); ++c) bias[l][c] -= learning_rate * d_bias[c];
    }
  }
};

}  // namespace atl
