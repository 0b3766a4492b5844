// Training with historical embeddings (Vasimuddin et al. 2022, "DistGNN-MB") in plain loops over dense
// matrices, on one rank: graph convolutions that read all neighbours, trained by gradient descent on some
// vertices per step. Tests compare sampler `historical` with it.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "train/stale_gcn.h"

namespace atl {

struct HistoricalGcn : StaleGcn {
  using Vertices = std::set<std::size_t>;

  int delay = 1, max_age = 1;
  std::vector<Vertices> kept;  // (parts) other parts' vertices whose embeddings are kept
  struct Pushed {
    int step;
    std::vector<double> row;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Pushed>> history;  // by convolution and vertex
  int read = 0, left_out = 0, oldest = 0;  // arcs from other parts; the greatest age that was read

  /// Trains one step (from 0) on these vertices; returns the sum of their losses.
  double train(int step, const Vertices& seeds) {
    const std::size_t layers = weight.size();
    std::vector<Vertices> of_layer(layers, seeds);  // the vertices that each convolution computes
    for (std::size_t l = layers - 1; l-- > 0;) {
      of_layer[l] = of_layer[l + 1];
      for (const std::size_t i : of_layer[l + 1])
        for (std::size_t j = 0; j < vertices(); ++j)
          if (adjacency[i][j] != 0 && together(i, j)) of_layer[l].insert(j);
    }
    std::vector<Dense> sums, outs, own(layers);
    Dense rows = features;
    for (std::size_t l = 0; l < layers; ++l) {
      sums.push_back(summed(step, l, of_layer[l], rows, own[l]));
      outs.push_back(finished(l, of_layer[l], sums.back()));
      rows = outs.back();
    }
    for (std::size_t l = 0; l + 1 < layers; ++l)
      for (const std::size_t i : of_layer[l]) history[{l + 1, i}].push_back({step, outs[l][i]});
    Dense d_out = zeros(vertices(), rows[0].size());
    const double loss = loss_of(seeds, rows, d_out);
    for (std::size_t l = layers; l-- > 0;) d_out = back(l, sums[l], outs, own[l], d_out);
    return loss;
  }

 private:
  /// What i's part knows of j's input of a convolution; null: nothing that is young enough.
  const std::vector<double>* known(int step, std::size_t layer, std::size_t i, std::size_t j) {
    const auto all = history.find({layer, j});
    if (kept[std::size_t(part[i])].count(j) == 0 || all == history.end()) return nullptr;
    const auto there = std::find_if(all->second.rbegin(), all->second.rend(),
                                    [&](const Pushed& each) { return each.step + delay <= step; });
    if (there == all->second.rend() || step - there->step > max_age) return nullptr;
    oldest = std::max(oldest, step - there->step);
    return &there->row;
  }

  /// Â times the known embeddings; own: gets the arcs that take gradients.
  Dense summed(int step, std::size_t layer, const Vertices& computed, const Dense& rows, Dense& own) {
    Dense sum = zeros(vertices(), rows[0].size());
    own = zeros(vertices(), vertices());
    for (const std::size_t i : computed) {
      std::map<std::size_t, const std::vector<double>*> there;
      int neighbours = 0;
      for (std::size_t j = 0; j < vertices(); ++j) {
        if (adjacency[i][j] == 0 || i == j) continue;
        ++neighbours;
        const bool fresh = layer == 0 || together(i, j);
        const auto* const row = fresh ? &rows[j] : known(step, layer, i, j);
        if (!fresh) ++(row == nullptr ? left_out : read);
        if (row != nullptr) there[j] = row;
      }
      const int left = int(there.size());
      const double factor = left == neighbours || left == 0 ? 1 : double(float(double(neighbours) / left));
      there[i] = &rows[i];
      for (const auto& [j, row] : there) {
        const double arc = adjacency[i][j] * (i == j ? 1 : factor);
        if (together(i, j)) own[i][j] = arc;
        for (std::size_t c = 0; c < row->size(); ++c) sum[i][c] += arc * (*row)[c];
      }
    }
    return sum;
  }

  Dense finished(std::size_t l, const Vertices& computed, const Dense& sum) const {
    Dense out = product(sum, weight[l]);
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t c = 0; c < out[i].size(); ++c) {
        out[i][c] = computed.count(i) == 0 ? 0 : out[i][c] + bias[l][c];
        if (l + 1 < weight.size()) out[i][c] = std::max(out[i][c], 0.0);
      }
    return out;
  }

  double loss_of(const Vertices& seeds, const Dense& logits, Dense& d_logits) const {
    double loss = 0;
    for (const std::size_t v : seeds) {
      double sum = 0;
      for (const double z : logits[v]) sum += std::exp(z);
      for (std::size_t c = 0; c < logits[v].size(); ++c)
        d_logits[v][c] = (std::exp(logits[v][c]) / sum - (int(c) == labels[v])) / double(seeds.size());
      loss += std::log(sum) - logits[v][std::size_t(labels[v])];
    }
    return loss;
  }

  /// Updates the layer; returns the gradient of the layer below.
  Dense back(std::size_t l, const Dense& sum, const std::vector<Dense>& outs, const Dense& own,
             const Dense& d_out) {
    const Dense d_weight = product(transposed(sum), d_out);
    Dense d_rows;
    if (l > 0) {
      d_rows = product(transposed(own), product(d_out, transposed(weight[l])));
      for (std::size_t i = 0; i < d_rows.size(); ++i)
        for (std::size_t c = 0; c < d_rows[i].size(); ++c)
          if (outs[l - 1][i][c] <= 0) d_rows[i][c] = 0;
    }
    for (std::size_t i = 0; i < weight[l].size(); ++i)
      for (std::size_t c = 0; c < weight[l][i].size(); ++c) weight[l][i][c] -= learning_rate * d_weight[i][c];
    for (const auto& row : d_out)
      for (std::size_t c = 0; c < row.size(); ++c) bias[l][c] -= learning_rate * row[c];
    return d_rows;
  }
};

}  // namespace atl
