// PipeGCN's recurrence (Wan et al. 2022, algorithm 1 and equations 3 to 5) and BNS-GCN's sampling (Wan et al.
// 2022, algorithm 1), alone and together, on one rank, in dense matrices and plain loops: three graph
// convolutions without dropout, trained by gradient descent. Tests compare the exchanges with it.
#pragma once

#include <gtest/gtest.h>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "strategies/exchange/boundary_set.h"
#include "train/small_job.h"
#include "train/stale_parts.h"

namespace atl {

struct StaleGcn {
  virtual ~StaleGcn() = default;

  Dense adjacency;        // D^-½ (A + I) D^-½
  std::vector<int> part;  // (vertices)
  Dense features;
  std::vector<int> labels;  // (vertices); −1: not trained on
  double learning_rate = 0.1;
  std::vector<Dense> weight;              // by convolution
  std::vector<std::vector<double>> bias;  // by convolution
  std::vector<StaleValues> stale_rows,
      stale_gradients;  // by convolution; the first one's aren't used, because features are sent once
  // by convolution: parts send the input times the weight of the sending epoch
  std::vector<bool> sends_products;
  int staleness = 1;  // the age of rows from other parts, in epochs; 0: none is stale
  int epoch = 0;      // the last one trained
  Dense read;         // the adjacency through which this epoch reads other parts' rows
  /// The weight of the arc (i, j) from another part in the epoch in which j's row was sent; empty: 1.
  std::function<double(int epoch, std::size_t i, std::size_t j)> stands_for;

  std::size_t vertices() const { return features.size(); }
  bool sends_products_of(std::size_t l) const { return l < sends_products.size() && sends_products[l]; }
  bool together(std::size_t i, std::size_t j) const { return part[i] == part[j]; }

  /// Σ over arcs that stay within a part, or over those between parts.
  Dense gathered(const Dense& a, const Dense& rows, bool boundary_set) const {
    Dense out = zeros(a.size(), rows[0].size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j)
        for (std::size_t c = 0; together(i, j) != boundary_set && c < rows[0].size(); ++c)
          out[i][c] += a[i][j] * rows[j][c];
    return out;
  }
  static void add(Dense& to, const Dense& what) {
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t j = 0; j < to[i].size(); ++j) to[i][j] += what[i][j];
  }

  /// The adjacency through which rows sent in epoch `sent` are read.
  Dense sampled(int sent) const {
    Dense a = adjacency;
    for (std::size_t i = 0; stands_for && i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j)
        if (a[i][j] != 0 && !together(i, j)) a[i][j] *= stands_for(sent, i, j);
    return a;
  }
  /// What this epoch uses of other parts, while its own `now` is on its way.
  Dense used(StaleValues& stale, const Dense& now) const {
    if (staleness == 0) stale.arrive(now);
    Dense rows = stale.used();
    if (staleness > 0) stale.arrive(now);
    return rows;
  }

  /// Trains one epoch; returns its loss. Rows and gradients that it sends arrive `staleness` epochs later.
  double train() {
    begin_epoch();
    std::vector<Dense> sums, outs;  // by convolution: its product's input (Â H or H); its output
    Dense rows = features;
    for (std::size_t l = 0; l < weight.size(); ++l) {
      Dense sum = gathered(adjacency, rows, false), out;
      if (sends_products_of(l)) {
        out = product(sum, weight[l]);
        add(out, from_others(l, product(rows, weight[l])));
        sum = rows;
      } else {
        add(sum, l == 0 ? gathered(adjacency, rows, true) : from_others(l, rows));
        out = product(sum, weight[l]);
      }
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

  /// For layer l in this epoch, sums over other parts' rows; `rows` are this epoch's.
  virtual Dense from_others(std::size_t l, const Dense& rows) {
    return gathered(read, used(stale_rows[l], rows), true);
  }
  /// The gradients that other parts send of those rows; `d_sum`: of the sums.
  virtual Dense back_from_others(std::size_t l, const Dense& d_sum) {
    return used(stale_gradients[l], gathered(transposed(read), d_sum, true));
  }
  virtual void begin_epoch() { read = sampled(++epoch - staleness); }

  void descend(const std::vector<Dense>& sums, const std::vector<Dense>& outs, Dense d_out) {
    const Dense back = transposed(adjacency);
    for (std::size_t l = weight.size(); l-- > 0;) {
      std::vector<double> d_bias(bias[l].size(), 0.0);
      for (const auto& row : d_out)
        for (std::size_t c = 0; c < row.size(); ++c) d_bias[c] += row[c];
      if (sends_products_of(
              l)) {  // from here on d_out is the products' gradient, as other parts have sent it
        Dense d_products = gathered(back, d_out, false);
        add(d_products, back_from_others(l, d_out));
        d_out = std::move(d_products);
      }
      const Dense d_weight = product(transposed(sums[l]), d_out);
      if (l > 0) {
        const Dense d_sum = product(d_out, transposed(weight[l]));
        Dense d_rows = sends_products_of(l) ? d_sum : gathered(back, d_sum, false);
        if (!sends_products_of(l)) add(d_rows, back_from_others(l, d_sum));
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

// A job on ranks beside its simulation (above): the same data, parts and initial weights, epoch by epoch.

/// Over a small data set, by case; a fixture for each test.
class Recurrence : public testing::TestWithParam<SmallCase> {
 protected:
  Recurrence() { write_small_data(folder_ / "small", {}); }

  /// Compares every epoch's loss, and the final weights, on ranks with the simulation's, which is trained
  /// here.
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
  /// By epoch and reader: the vertices whose rows it receives.
  using DrawnRows = std::vector<std::vector<std::set<VertexId>>>;

  static double sampling_rate(const Job& job) {
    const Options& o = job.strategy.options;
    if (o.has("rate")) return o.number("rate");
    return o.has("boundaryRate") ? o.number("boundaryRate") : 1;
  }

  static void draw(SmallRank& rank, double rate, DrawnRows& drawn) {
    const GraphPart& part = rank.data.part();
    const auto boundary_set =
        make_sampled_boundary_set(rank.ctx, *part.graph, part.outer, {rate, rank.job.training.seed, false});
    for (std::size_t e = 0; e < drawn.size(); ++e) {
      const auto ids = boundary_set->block(std::int64_t(e)).src_ids;
      drawn[e][std::size_t(part.graph->rank)].insert(ids.begin(), ids.end());
    }
  }

  /// b/k, where k of the b rows that j's part has for i's part were drawn, among them j's.
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
    const Options& options = job.strategy.options;
    const bool products = options.has("haloRows") && options.text("haloRows") == "products";
    for (const Dense& weight : gcn.weight) {
      const std::size_t in = weight.size(), out = weight[0].size();
      gcn.sends_products.push_back(products && !gcn.stale_rows.empty() && out < in);
      const std::size_t cols = gcn.sends_products.back() ? out : in;
      gcn.stale_rows.push_back(stale_values_of(job, "features", gcn.vertices(), cols));
      gcn.stale_gradients.push_back(stale_values_of(job, "gradients", gcn.vertices(), cols));
    }
  }

  TemporaryFolder folder_;
};

}  // namespace atl
