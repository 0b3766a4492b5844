// The parts of a graph as one rank plays them under PipeGCN (Wan et al. 2022, algorithm 1 and section 3.4): an Exchange that has
// all vertices before it and simulates what crosses between parts, by vertex. No halo, no peers, no messages; in float64.
#pragma once

#include <algorithm>
#include <vector>

#include "exchange/exchange.h"
#include "train/late_average.h"

namespace atl {

/// The arcs of a block that stay within a part, or those that cross; its sources and destinations remain. Holds its arrays.
class PartArcs {
 public:
  /// part (vertices of the data set).
  PartArcs(const Block& whole, const std::vector<int>& part, bool crossing) : block_(whole) {
    const auto part_of = [&](VertexId id) { return part[std::size_t(id)]; };
    arcs_.rows = whole.dst(), arcs_.cols = whole.src();
    for (std::size_t to = 0; to < std::size_t(whole.dst()); ++to) {
      for (Index e = whole.arcs.offsets[to]; e < whole.arcs.offsets[to + 1]; ++e) {
        const VertexId from = whole.arcs.columns[e];
        const bool crosses = part_of(whole.dst_ids[to]) != part_of(whole.src_ids[std::size_t(from)]);
        if (crosses != crossing) continue;
        arcs_.columns.push_back(from);
        if (whole.arcs.weights != nullptr) arcs_.weights.push_back(whole.arcs.weights[e]);
      }
      arcs_.offsets.push_back(arcs_.arcs());
    }
    back_ = transpose(arcs_.view(), true);
    block_.arcs = arcs_.view();
    block_.transpose = back_.csr.view();
    block_.transpose_arc = back_.arc_of.data();
    block_.dst_are_sources = !crossing;  // a part has others' rows beside its own, late
  }
  PartArcs(const PartArcs&) = delete;

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

/// Parts as one rank plays them. Slot 0 = arcs that stay within a part, slot 1 = arcs that cross; sources are all vertices.
///
/// A row that several parts read is the same row for all of them, so one average stands for their copies. The gradients that they
/// send back for it are added here before they are averaged, on ranks after: an average is linear.
class StaleParts final : public Exchange {
 public:
  /// part (vertices of the data set). References outlive it.
  StaleParts(const GraphPart& whole, const std::vector<int>& part, const Job& job,
             const std::vector<ExchangedLayer>& layers)
      : vertices_(whole.graph->owned), within_(whole.own, part, false), across_(whole.own, part, true) {
    for (const ExchangedLayer& each : layers) {
      const auto rows = std::size_t(vertices_), cols = std::size_t(each.fixed ? 0 : each.cols);
      layers_.push_back(
          {each.fixed, late_of(job, "features", rows, cols), late_of(job, "gradients", rows, cols), {}});
    }
  }

  std::vector<Index> source_rows() const override { return {vertices_, vertices_}; }
  Index bytes() const override { return 0; }

  void forward(const Gather& g, VisitSource visit) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    const bool repeated = g.purpose == Traffic::kRecompute;
    const bool is_late = !layer.fixed && (repeated || g.purpose == Traffic::kHalo);
    if (is_late && !repeated) {
      layer.used = copy_of(layer.rows.used());
      layer.rows.arrive(dense_of(g.rows.dense));
    }
    visit({&within_.block(), g.rows, 0, true});
    visit({&across_.block(), is_late ? used(layer) : g.rows, 1, false});
  }

  void backward(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    Matrix d_across(vertices_, d_rows.cols);
    visit({&across_.block(), layer.fixed ? g.rows : used(layer), 1, false}, d_across);
    visit({&within_.block(), g.rows, 0, true}, d_rows);
    if (d_rows.cols == 0) return;
    const Dense arrived = layer.gradients.used();
    layer.gradients.arrive(dense_of(d_across));
    for (Index i = 0; i < d_rows.rows; ++i)
      for (Index c = 0; c < d_rows.cols; ++c) d_rows.at(i, c) += arrived[std::size_t(i)][std::size_t(c)];
  }

 private:
  struct Layer {
    bool fixed;            // its input are the features, which every part has of its sources
    Late rows, gradients;  // (vertices, cols): sent in the epochs before this one
    Matrix used;           // (vertices, cols): what this epoch reads of other parts
  };

  static Rows used(const Layer& layer) { return layer.used.view(); }
  static Matrix copy_of(const Dense& rows) {
    Matrix out(Index(rows.size()), rows.empty() ? 0 : Index(rows[0].size()));
    for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], out.view().row(Index(i)));
    return out;
  }

  Index vertices_;
  PartArcs within_, across_;
  std::vector<Layer> layers_;
};

}  // namespace atl
