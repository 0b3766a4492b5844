// The parts of a graph under PipeGCN (Wan et al. 2022, algorithm 1 and section 3.4), simulated on one rank:
// an Exchange that has all vertices, and computes by vertex what parts would send each other. No halo, no
// peers, no messages; in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "graph/csr.h"
#include "job/job.h"
#include "model/listed_sources.h"
#include "strategies/exchange/exchange.h"

namespace atl {

// What arrives an epoch late, and its moving average (Wan et al. 2022, "PipeGCN", section 3.4), in plain
// loops: for simulations of stale rows and gradients.

using Dense = std::vector<std::vector<double>>;  // (rows)(columns)

inline Dense zeros(std::size_t rows, std::size_t cols) {
  return Dense(rows, std::vector<double>(cols, 0.0));
}

/// A moving average that begins at zero; without smoothing, the last value.
struct StaleValues {
  Dense average;
  double decay = 0;
  bool corrected = true;
  int arrived = 0;

  void arrive(const Dense& rows) {
    ++arrived;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        average[i][j] = decay * average[i][j] + (1 - decay) * rows[i][j];
  }
  Dense used() const {
    Dense out = average;
    const double whole = corrected && arrived > 0 ? 1 - std::pow(decay, arrived) : 1;
    for (auto& row : out)
      for (double& value : row) value /= whole;
    return out;
  }
};

/// As the job smooths `what`, "features" or "gradients". `auto` smooths both, unless nothing is stale, or
/// each epoch sends other rows.
inline StaleValues stale_values_of(const Job& job, const std::string& what, std::size_t rows,
                                   std::size_t cols) {
  const Options& o = job.strategy.options;
  std::string smoothed = o.has("smoothing") ? o.text("smoothing") : "none";
  if (smoothed == "auto")
    smoothed = o.integer("staleness") == 1 && o.number("boundaryRate") == 1 ? "both" : "none";
  if (smoothed != what && smoothed != "both") return {zeros(rows, cols)};
  return {zeros(rows, cols), o.number("decay"), o.flag("biasCorrection")};
}

// Some of a block's arcs as a block of their own.

/// Owns the block's arrays.
class SomeArcs {
 public:
  struct Range {
    Index begin, end;
  };
  using Keep = FunctionRef<bool(VertexId dst_id, VertexId src_id)>;

  /// Arcs from `sources` to `destinations` of `whole` that `keep` selects. dst_are_sources: Block's.
  SomeArcs(const Block& whole, Range destinations, Range sources, bool dst_are_sources, Keep keep)
      : block_(whole) {
    arcs_.rows = destinations.end - destinations.begin, arcs_.cols = sources.end - sources.begin;
    for (Index to = destinations.begin; to < destinations.end; ++to) {
      for (Index e = whole.arcs.offsets[to]; e < whole.arcs.offsets[to + 1]; ++e) {
        const VertexId from = whole.arcs.columns[e];
        if (from < sources.begin || from >= sources.end) continue;
        if (!keep(whole.dst_ids[std::size_t(to)], whole.src_ids[std::size_t(from)])) continue;
        arcs_.columns.push_back(VertexId(from - sources.begin));
        if (whole.arcs.weights != nullptr) arcs_.weights.push_back(whole.arcs.weights[e]);
      }
      arcs_.offsets.push_back(arcs_.arcs());
    }
    back_ = transpose(arcs_.view(), true);
    block_.arcs = arcs_.view();
    block_.transpose = back_.csr.view();
    block_.transpose_arc = back_.arc_of.data();
    block_.dst_are_sources = dst_are_sources;
    if (whole.dst_scale != nullptr) block_.dst_scale = whole.dst_scale + destinations.begin;
    if (whole.src_scale != nullptr) block_.src_scale = whole.src_scale + sources.begin;
    block_.dst_ids = whole.dst_ids.subspan(std::size_t(destinations.begin), std::size_t(arcs_.rows));
    block_.src_ids = whole.src_ids.subspan(std::size_t(sources.begin), std::size_t(arcs_.cols));
  }
  SomeArcs(const SomeArcs&) = delete;

  const Block& block() const { return block_; }

 private:
  Csr arcs_;
  Transpose back_;
  Block block_;
};

inline Dense dense_of(ConstMatrixView rows) {
  Dense out;
  for (Index i = 0; i < rows.rows; ++i) out.emplace_back(rows.row(i), rows.row(i) + rows.cols);
  return out;
}

/// Parts simulated on one rank. Slot 0 = arcs within a part, slot 1 = arcs between parts; sources are all
/// vertices.
///
/// A row that several parts read is the same for all of them, so one average stands for their copies. The
/// gradients that they send back for it are summed here before they are averaged, and on ranks afterwards,
/// which is the same because an average is linear.
class StaleParts final : public Exchange {
 public:
  /// part: (vertices of the data set). References outlive it.
  StaleParts(const GraphPart& whole, const std::vector<int>& part, const Job& job,
             const std::vector<ExchangedLayer>& layers)
      : vertices_(whole.graph->owned),
        within_(whole.own, {0, vertices_}, {0, vertices_}, true,
                [&](VertexId to, VertexId from) { return part[std::size_t(to)] == part[std::size_t(from)]; }),
        across_(
            whole.own, {0, vertices_}, {0, vertices_}, false,  // a part has its own rows, and stale ones
            [&](VertexId to, VertexId from) { return part[std::size_t(to)] != part[std::size_t(from)]; }) {
    for (const ExchangedLayer& each : layers) {
      const auto rows = std::size_t(vertices_), cols = std::size_t(each.fixed ? 0 : each.cols);
      layers_.push_back({each.fixed,
                         stale_values_of(job, "features", rows, cols),
                         stale_values_of(job, "gradients", rows, cols),
                         {}});
    }
  }

  std::vector<Index> source_rows(int) const override { return {vertices_, vertices_}; }
  Index bytes() const override { return 0; }

  Gather& gather(const GatherRequest& g) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    const bool repeated = g.purpose == Traffic::kRecompute;
    const bool is_stale = !layer.fixed && (repeated || g.purpose == Traffic::kHalo);
    if (is_stale && !repeated) {
      layer.used = copy_of(layer.rows.used());
      layer.rows.arrive(dense_of(g.rows.dense));
    }
    return sources_.begin({{&within_.block(), g.rows, 0, true, false, {}},
                           {&across_.block(), is_stale ? used(layer) : g.rows, 1, false, true, {}}});
  }

  Gather& gather_back(const GatherRequest& g, MatrixView d_rows) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    d_across_.resize(vertices_, d_rows.cols);
    const Rows halo = layer.fixed ? g.rows : used(layer);
    const std::vector<Source> blocks{{&across_.block(), halo, 1, false, false, d_across_},
                                     {&within_.block(), g.rows, 0, true, true, d_rows}};
    return sources_.begin(blocks, [this, &layer, d_rows] {
      if (d_rows.cols == 0) return;
      const Dense arrived = layer.gradients.used();
      layer.gradients.arrive(dense_of(d_across_));
      for (Index i = 0; i < d_rows.rows; ++i)
        for (Index c = 0; c < d_rows.cols; ++c) d_rows.at(i, c) += arrived[std::size_t(i)][std::size_t(c)];
    });
  }

 private:
  struct Layer {
    bool fixed;                   // its inputs are the features, which every part has of its sources
    StaleValues rows, gradients;  // (vertices, cols): sent in earlier epochs
    Matrix used;                  // (vertices, cols): what this epoch reads of other parts
  };

  static Rows used(const Layer& layer) { return layer.used.view(); }
  static Matrix copy_of(const Dense& rows) {
    Matrix out(Index(rows.size()), rows.empty() ? 0 : Index(rows[0].size()));
    for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], out.view().row(Index(i)));
    return out;
  }

  Index vertices_;
  SomeArcs within_, across_;
  std::vector<Layer> layers_;
  Matrix d_across_;
  ListedSources sources_;
};

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

}  // namespace atl
