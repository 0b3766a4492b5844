// A job on ranks beside its simulation (stale_gcn.h): the same data, parts and first weights, epoch for epoch.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "strategies/exchange/crossing.h"
#include "train/stale_gcn.h"

namespace atl {

/// Over a small data set, by case; for a fixture of each test.
class Recurrence : public testing::TestWithParam<SmallCase> {
 protected:
  Recurrence() { write_small_data(folder_ / "small", {}); }

  /// Every epoch's loss, and the weights at the end, on ranks as in the simulation, which is trained here.
  void expect_equal(StaleGcn& expected, const Job& job, int ranks, int epochs) const {
    ASSERT_EQ(expected.weight.size(), 3U);
    const SmallResult got = train_small(job, folder_ / "small", ranks, epochs);
    for (int e = 0; e < epochs; ++e)
      EXPECT_NEAR(got.losses[std::size_t(e)], expected.train(), 1e-10) << ranks << " ranks, epoch " << e + 1;
    std::size_t at = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      for (const auto& row : expected.weight[l])
        for (const double value : row)
          EXPECT_NEAR(got.weights[at++], value, 1e-10) << "weight of layer " << l;
      for (const double value : expected.bias[l]) EXPECT_NEAR(got.weights[at++], value, 1e-10);
    }
  }
  void expect_equal(const Job& job, int ranks, int epochs) const {
    StaleGcn expected = simulation(job, ranks, epochs);
    expect_equal(expected, job, ranks, epochs);
  }

  StaleGcn simulation(const Job& job, int ranks, int epochs) const {
    StaleGcn gcn;
    const Dataset data = Dataset::open(folder_ / "small");
    const auto n = std::size_t(data.meta().vertices);
    fill_graph(gcn, data);
    gcn.learning_rate = job.training.optimizer.learning_rate;
    gcn.part.assign(n, -1);
    const double rate = sampling_rate(job);
    DrawnRows drawn(std::size_t(epochs) + 1, std::vector<std::set<VertexId>>(std::size_t(ranks)));
    std::mutex lock;
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder_ / "small", 1);
      std::lock_guard guard(lock);
      const LocalGraph& graph = *rank.data.part().graph;
      for (Index v = 0; v < graph.owned; ++v) gcn.part[std::size_t(graph.ids[std::size_t(v)])] = comm.rank();
      if (comm.rank() == 0) copy_weights(gcn, rank.trainer->parameters());
      if (rate < 1) draw(rank, rate, drawn);
    });
    if (rate < 1) gcn.stands_for = weights_of(gcn, rate, drawn);
    const Options& options = job.strategy.options;
    gcn.staleness = options.has("staleness") ? int(options.integer("staleness")) : 0;
    smooth(gcn, job);
    return gcn;
  }

 protected:
  /// By epoch and reader: the vertices whose rows it gets.
  using DrawnRows = std::vector<std::vector<std::set<VertexId>>>;

  static double sampling_rate(const Job& job) {
    const Options& o = job.strategy.options;
    if (job.strategy.kind == "bns") return o.number("rate");
    return o.has("boundaryRate") ? o.number("boundaryRate") : 1;
  }

  static void draw(SmallRank& rank, double rate, DrawnRows& drawn) {
    const GraphPart& part = rank.data.part();
    const auto crossing =
        make_sampled_crossing(rank.ctx, *part.graph, part.outer, {rate, rank.job.training.seed, false});
    for (std::size_t e = 0; e < drawn.size(); ++e) {
      const auto ids = crossing->block(std::int64_t(e)).src_ids;
      drawn[e][std::size_t(part.graph->rank)].insert(ids.begin(), ids.end());
    }
  }

  /// b/k where k of the b rows that j's part has for i's were drawn, j's among them.
  static std::function<double(int, std::size_t, std::size_t)> weights_of(const StaleGcn& gcn, double rate,
                                                                         const DrawnRows& drawn) {
    std::map<std::pair<int, int>, std::set<std::size_t>> boundary;  // owner, reader → vertices
    for (std::size_t i = 0; i < gcn.vertices(); ++i)
      for (std::size_t j = 0; j < gcn.vertices(); ++j)
        if (gcn.adjacency[i][j] != 0 && !gcn.together(i, j)) boundary[{gcn.part[j], gcn.part[i]}].insert(j);
    return [part = gcn.part, boundary, rate, drawn](int epoch, std::size_t i, std::size_t j) {
      const std::set<VertexId>& got = drawn[std::size_t(epoch)][std::size_t(part[i])];
      if (got.count(VertexId(j)) == 0) return 0.0;
      const auto b = double(boundary.at({part[j], part[i]}).size());
      return double(float(b / std::max(1.0, std::floor(rate * b))));
    };
  }

  static void fill_graph(StaleGcn& gcn, const Dataset& data) {
    const auto n = std::size_t(data.meta().vertices);
    const CsrView graph = data.graph();
    gcn.adjacency = zeros(n, n);
    std::vector<double> degree(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
      gcn.adjacency[i][i] = 1;
      for (Index e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        gcn.adjacency[i][std::size_t(graph.columns[e])] = 1;
        degree[i] += 1;
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) gcn.adjacency[i][j] /= std::sqrt(degree[i] * degree[j]);
    std::vector<VertexId> all(n);
    for (std::size_t v = 0; v < n; ++v) all[v] = VertexId(v);
    Matrix rows(Index(n), data.meta().features);
    data.read_features(all, rows);
    gcn.features = zeros(n, std::size_t(rows.cols()));
    const View<const std::uint8_t> split = data.split("default");
    for (std::size_t v = 0; v < n; ++v) {
      for (Index c = 0; c < rows.cols(); ++c) gcn.features[v][std::size_t(c)] = rows.at(Index(v), c);
      gcn.labels.push_back(split.at(Index(v), 0) == 1 ? data.labels()[v] : -1);
    }
  }

  static void copy_weights(StaleGcn& gcn, Parameters& parameters) {
    for (const Parameters::Entry& entry : parameters.entries()) {
      const Real* values = parameters.values().data() + entry.offset;
      const auto rows = std::size_t(entry.spec.rows), cols = std::size_t(entry.spec.cols);
      if (entry.spec.name.ends_with("bias")) {
        gcn.bias.emplace_back(values, values + cols);
        continue;
      }
      Dense& weight = gcn.weight.emplace_back(zeros(rows, cols));
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) weight[i][j] = values[i * cols + j];
    }
  }

  static void smooth(StaleGcn& gcn, const Job& job) {
    for (const Dense& weight : gcn.weight) {
      gcn.late_rows.push_back(late_of(job, "features", gcn.vertices(), weight.size()));
      gcn.late_back.push_back(late_of(job, "gradients", gcn.vertices(), weight.size()));
    }
  }

  TemporaryFolder folder_;
};

}  // namespace atl
