// Sampler `historical` of strategy minibatch, through the whole trainer, equals its recurrence (Vasimuddin et
// al. 2022, "DistGNN-MB") in plain loops over dense matrices, on one rank: graph convolutions that read all
// neighbours, trained by gradient descent on some vertices per step.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "train/stale_gcn.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

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

struct RecurrenceCase {
  std::string name;
  int ranks, rows, max_age, delay;
};

class HistoricalSteps : public Recurrence {
 protected:
  /// What the recurrence needs of a rank: whose rows are whose, first weights, and each step's vertices.
  static void look(SmallRank& rank, Rank me, int limit, HistoricalGcn& gcn,
                   std::vector<HistoricalGcn::Vertices>& seeds) {
    const BatchGraph& graph = rank.data.held().batches();
    const CsrView& whole = graph.training.whole;
    const auto id = [&](Index row) { return std::size_t(graph.training.ids[std::size_t(row)]); };
    std::map<Index, Index> arcs;  // from others' rows
    for (Index i = 0; i < graph.owners.rows(me); ++i) {
      const Index row = graph.owners.first_row(me) + i;
      gcn.part[id(row)] = me;
      for (Index e = whole.offsets[row]; e < whole.offsets[row + 1]; ++e)
        if (!graph.owners.owns(me, whole.columns[e])) ++arcs[whole.columns[e]];
    }
    std::vector<std::pair<Index, Index>> order;
    for (const auto& [row, count] : arcs) order.emplace_back(-count, row);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), std::size_t(limit)));
    for (const auto& [count, row] : order) gcn.kept[std::size_t(me)].insert(id(row));
    Seeds of_steps(graph.training_by_part, graph.training_rows, 7, rank.job.training.seed);
    std::vector<VertexId> rows;
    for (std::size_t step = 0; step < seeds.size(); ++step) {
      of_steps.of_step(std::int64_t(step), rows);
      for (const VertexId row : rows) seeds[step].insert(id(row));
    }
  }

  void expect_recurrence(const RecurrenceCase& c, int steps) {
    const Job job = historical_job(
        {"training.dropout=0", "training.optimizer={kind: sgd, learningRate: 0.1}"}, c.ranks,
        fmt::format("batchSize: 7, historyRows: {}, maxAge: {}, delay: {}", c.rows, c.max_age, c.delay));
    HistoricalGcn expected;
    fill_graph(expected, Dataset::open(folder_ / "small"));
    expected.learning_rate = 0.1, expected.delay = c.delay, expected.max_age = c.max_age;
    expected.part.assign(expected.vertices(), -1);
    expected.kept.resize(std::size_t(c.ranks));
    std::vector<HistoricalGcn::Vertices> seeds(static_cast<std::size_t>(steps));
    std::vector<double> got(seeds.size(), 0);
    std::vector<Real> weights;
    std::mutex lock;
    run_ranks(c.ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder_ / "small", 1);
      {
        const std::lock_guard guard(lock);
        look(rank, comm.rank(), c.rows, expected, seeds);
        if (comm.rank() == 0) copy_weights(expected, rank.trainer->parameters());
      }
      for (int step = 0; step < steps; ++step) {
        const double loss = rank.trainer->train_step(step + 1, 0.1);
        const std::lock_guard guard(lock);
        got[std::size_t(step)] += loss;
      }
      const auto values = rank.trainer->parameters().values();
      if (comm.rank() == 0) weights.assign(values.begin(), values.end());
    });
    for (int step = 0; step < steps; ++step)
      ASSERT_NEAR(got[std::size_t(step)], expected.train(step, seeds[std::size_t(step)]), 1e-9) << step;
    std::size_t at = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      for (const auto& row : expected.weight[l])
        for (const double value : row) EXPECT_NEAR(weights[at++], value, 1e-10) << "weight of layer " << l;
      for (const double value : expected.bias[l]) EXPECT_NEAR(weights[at++], value, 1e-10);
    }
    EXPECT_GT(expected.read, 0);
    EXPECT_GT(expected.left_out, 0);
    EXPECT_LE(expected.oldest, c.max_age);
  }
};

/// 18 training vertices in batches of 7: three steps an epoch.
TEST_F(HistoricalSteps, AreTheRecurrences) {
  for (const RecurrenceCase& c : {RecurrenceCase{"two", 2, 1000, 4, 1},
                                  {"three", 3, 1000, 2, 1},
                                  {"six", 6, 1000, 9, 1},
                                  {"delayed", 3, 1000, 4, 3},
                                  {"few_rows", 3, 4, 50, 1},
                                  {"at_once_too_old", 2, 1000, 1, 1}}) {
    SCOPED_TRACE(c.name);
    expect_recurrence(c, 24);
  }
}

}  // namespace
}  // namespace atl
