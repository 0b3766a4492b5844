// Sancus' recurrence on one rank, in dense matrices and plain loops: three graph convolutions without dropout, trained by
// gradient descent. What tests hold the exchange against.
#pragma once

#include <algorithm>

#include "strategies/exchange/exchange.h"
#include "strategies/sancus/sancus.h"
#include "train/stale_gcn.h"

namespace atl {

/// Graph, parts and first weights are the base's.
class SancusGcn : public StaleGcn {
 public:
  SancusGcn(StaleGcn start, int parts, const SancusOptions& options)
      : StaleGcn(std::move(start)), parts_(std::size_t(parts)), options_(options) {
    for (const Dense& each : weight) {
      cached_.push_back(zeros(vertices(), each.size()));
      ages_.emplace_back(parts_, 0);
      travels_.emplace_back(parts_, true);
    }
  }

  int broadcasts() const { return broadcasts_; }  // of all blocks, since the first epoch

 private:
  void begin_epoch() override { ++epoch; }

  Dense from_others(std::size_t l, const Dense& rows) override {
    send(l, rows);
    return gathered(adjacency, cached_[l], true);
  }

  Dense back_from_others(std::size_t l, const Dense& d_sum) override {
    Dense d = gathered(transposed(adjacency), d_sum, true);
    for (std::size_t v = 0; v < vertices(); ++v)
      if (!options_.gradients_of_cached_rows && !travels_[l][std::size_t(part[v])])
        std::ranges::fill(d[v], 0.0);
    return d;
  }

  /// Each part's rows, where its rule says so, to those who have them cached.
  void send(std::size_t l, const Dense& rows) {
    for (std::size_t p = 0; p < parts_; ++p) {
      const bool due = options_.rule == SancusOptions::Rule::kFixed ? is_due() : has_changed(l, p, rows);
      travels_[l][p] = due;
      broadcasts_ += due;
      ages_[l][p] = due ? 0 : ages_[l][p] + 1;
      for (std::size_t v = 0; due && v < vertices(); ++v)
        if (std::size_t(part[v]) == p) cached_[l][v] = rows[v];
    }
  }

  bool is_due() const {
    return epoch == 1 || epoch <= options_.warmup || (epoch - options_.warmup) % options_.every == 0;
  }

  bool has_changed(std::size_t l, std::size_t p, const Dense& rows) const {
    double change = 0, whole = 0;
    for (std::size_t v = 0; v < vertices(); ++v)
      for (std::size_t c = 0; std::size_t(part[v]) == p && c < rows[v].size(); ++c) {
        const double then = cached_[l][v][c];
        change += (rows[v][c] - then) * (rows[v][c] - then);
        whole += then * then;
      }
    return epoch == 1 || ages_[l][p] >= options_.staleness ||
           std::sqrt(change) > options_.threshold * std::sqrt(whole);
  }

  std::size_t parts_;
  SancusOptions options_;
  int broadcasts_ = 0;
  std::vector<Dense> cached_;               // by convolution, what other parts have
  std::vector<std::vector<int>> ages_;      // by convolution and part: epochs since its rows were sent
  std::vector<std::vector<bool>> travels_;  // in this epoch
};

}  // namespace atl
