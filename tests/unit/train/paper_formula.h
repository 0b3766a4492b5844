// A model's logits compared with its paper's formula: dense matrices in plain loops, made of the data set's
// arcs and features alone. A new model's test says its formula; the rest is here.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "train/small_job.h"
#include "train/stale_parts.h"

namespace atl {

/// D^-½ (A + I) D^-½ by vertex.
inline Dense symmetric_adjacency(const Dataset& dataset) {
  const CsrView graph = dataset.graph();
  const auto vertices = std::size_t(graph.rows);
  Dense a = zeros(vertices, vertices);
  std::vector<double> degree(vertices, 0);
  for (std::size_t i = 0; i < vertices; ++i) {
    a[i][i] = 1;
    for (Index e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
      a[i][std::size_t(graph.columns[e])] = graph.weights == nullptr ? 1 : double(graph.weights[e]);
    for (const double each : a[i]) degree[i] += each;
  }
  for (std::size_t i = 0; i < vertices; ++i)
    for (std::size_t j = 0; j < vertices; ++j) a[i][j] /= std::sqrt(degree[i] * degree[j]);
  return a;
}

inline Dense features_of(const Dataset& dataset) {
  const auto vertices = std::size_t(dataset.meta().vertices), columns = std::size_t(dataset.meta().features);
  std::vector<VertexId> ids(vertices);
  for (std::size_t v = 0; v < vertices; ++v) ids[v] = VertexId(v);
  Matrix read{Index(vertices), Index(columns)};
  dataset.read_features(ids, read);
  Dense x = zeros(vertices, columns);
  for (std::size_t v = 0; v < vertices; ++v)
    for (std::size_t c = 0; c < columns; ++c) x[v][c] = double(read.view().at(Index(v), Index(c)));
  return x;
}

/// h · (as many rows of w as h has columns, from `begin` on) + (as many columns of bias, from `first` on).
inline Dense affine(const Dense& h, ConstMatrixView w, ConstMatrixView bias, std::size_t begin = 0,
                    std::size_t first = 0) {
  Dense rows = zeros(h[0].size(), std::size_t(w.cols));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (Index c = 0; c < w.cols; ++c) rows[r][std::size_t(c)] = double(w.at(Index(begin + r), c));
  Dense out = product(h, rows);
  for (auto& row : out)
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += double(bias.at(0, Index(first + c)));
  return out;
}

inline void relu(Dense& h) {
  for (auto& row : h)
    for (double& value : row) value = std::max(0.0, value);
}

/// The logits of all vertices, by these weights.
using Formula = std::function<Dense(const Dataset&, const Job&, Parameters&)>;

/// After three epochs of training, each rank's logits are those of the formula, on one to three ranks.
inline void expect_formula(const std::vector<std::string>& fields, const SmallData& data,
                           const Formula& formula) {
  TemporaryFolder folder;
  write_small_data(folder / "small", data);
  for (const int ranks : {1, 2, 3}) {
    Job job = small_job(fields);
    job.placement.ranks = ranks;
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      for (Index epoch = 1; epoch <= 3; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
      const ConstMatrixView logits = rank.trainer->inference().infer();
      const Dense wanted = formula(rank.dataset, job, rank.trainer->parameters());
      const std::span<const VertexId> ids = rank.data.owned_ids();
      for (std::size_t v = 0; v < ids.size(); ++v)
        for (Index c = 0; c < logits.cols; ++c)
          ASSERT_NEAR(logits.at(Index(v), c), wanted[std::size_t(ids[v])][std::size_t(c)], 1e-10)
              << ranks << " ranks, vertex " << ids[v];
    });
  }
}

}  // namespace atl
