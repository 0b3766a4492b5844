// Strategy `gnnpipe` with each option on stale rows, compared with dense loops over chunks
// (gnnpipe_oracles.h): the epoch whose rows are read, the gradients of stale rows and when they arrive, and
// what is doubled (float64).
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <numeric>

#include "strategies/gnnpipe/pipeline.h"
#include "train/gnnpipe_oracles.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kEpochs = 9, kChunks = 4;

struct Variant {
  std::string name;
  std::string options;  // of the manifest, beside chunks
  int alpha = 23;
  bool first_epoch_is_kept = true, historical_gradients = false;
  double gradient_scale = 1;
  bool shuffled = false;
};
std::ostream& operator<<(std::ostream& out, const Variant& v) {
  return out << v.name;
}

std::vector<Variant> variants() {
  const std::string in_order = "shuffle: false, ", gradients = "historicalGradients: true, ",
                    scaled = "scaleHistoricalGradient: true, ", zeros = "refreshAfterFirstEpoch: false, ";
  return {{"by_default", in_order},
          {"every_epoch", in_order + "historyRefresh: 1, ", 1},
          {"every_third", in_order + "historyRefresh: 3, ", 3},
          {"every_third_from_zeros", in_order + zeros + "historyRefresh: 3, ", 3, false},
          {"every_fourth_from_zeros", in_order + zeros + "historyRefresh: 4, ", 4, false},
          {"zeros_throughout", in_order + zeros, 23, false},
          {"late_gradients", in_order + gradients + "historyRefresh: 1, ", 1, true, true},
          {"late_gradients_every_third", in_order + gradients + "historyRefresh: 3, ", 3, true, true},
          {"late_gradients_from_zeros", in_order + gradients + zeros + "historyRefresh: 4, ", 4, false, true},
          {"scaled", in_order + scaled + "historyRefresh: 3, ", 3, true, false, 2},
          {"scaled_late_gradients", in_order + scaled + gradients + "historyRefresh: 2, ", 2, true, true, 2},
          {"shuffled", "historyRefresh: 3, ", 3, true, false, 1, true},
          {"shuffled_late_gradients", gradients + "historyRefresh: 3, ", 3, true, true, 1, true},
          {"shuffled_scaled_from_zeros", scaled + zeros + "historyRefresh: 4, ", 4, false, false, 2, true}};
}

struct Learned {
  std::vector<double> losses;
  std::map<std::string, std::vector<Real>> weights;
};

class HistoryChunks : public testing::TestWithParam<std::tuple<std::string, Variant>> {
 protected:
  HistoryChunks() { write_small_data(folder_ / "small", {}); }
  const Variant& variant() const { return std::get<1>(GetParam()); }
  const std::string& kind() const { return std::get<0>(GetParam()); }

  Job job(int ranks, int stages) const {
    return small_job(
        {"model={kind: " + kind() + ", layers: 3, hidden: 8}",
         "training={dropout: 0, optimizer: {kind: sgd, learningRate: 0.5}}", "strategy={kind: gnnpipe}",
         fmt::format("strategy.gnnpipe={{{}chunks: {}, stages: {}}}", variant().options, kChunks, stages),
         "placement.partitioner=hash", fmt::format("placement.ranks={}", ranks)});
  }

  /// The first weights on one rank, whose chunks are any number of ranks' under this partitioner.
  ChunkedGnn dense() const {
    ChunkedGnn gnn;
    const Variant& v = variant();
    gnn.alpha = v.alpha, gnn.first_epoch_is_kept = v.first_epoch_is_kept;
    gnn.historical_gradients = v.historical_gradients, gnn.gradient_scale = v.gradient_scale;
    gnn.learning_rate = 0.5;
    run_ranks(1, [&](Communicator& comm) {
      SmallRank rank(comm, job(1, 1), folder_ / "small", 1);
      fill(gnn, rank.dataset);
      const LocalGraph& graph = *rank.data.training_part().graph;
      for (std::size_t c = 0; c + 1 < graph.slices.size(); ++c)
        for (Index row = graph.slices[c]; row < graph.slices[c + 1]; ++row)
          gnn.chunk[std::size_t(graph.ids[std::size_t(row)])] = int(c);
      for (const Parameters::Entry& entry : rank.trainer->parameters().entries())
        take_weights(gnn, entry, rank.trainer->parameters().values().data() + entry.offset);
    });
    return gnn;
  }

  void fill(ChunkedGnn& gnn, const Dataset& data) const {
    const auto n = std::size_t(data.meta().vertices);
    const CsrView graph = data.graph();
    const bool mean = kind() == "sage";
    gnn.adjacency = zeros(n, n), gnn.chunk.assign(n, -1);
    std::vector<double> degree(n, mean ? 0.0 : 1.0);  // a loop at each vertex
    for (std::size_t i = 0; i < n; ++i) {
      gnn.adjacency[i][i] = degree[i];
      for (Index e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
        gnn.adjacency[i][std::size_t(graph.columns[e])] = 1, degree[i] += 1;
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (gnn.adjacency[i][j] != 0)
          gnn.adjacency[i][j] /= mean ? degree[i] : std::sqrt(degree[i] * degree[j]);
    std::vector<VertexId> all(n);
    std::iota(all.begin(), all.end(), 0);
    Matrix rows(Index(n), data.meta().features);
    data.read_features(all, rows);
    gnn.features = zeros(n, std::size_t(rows.cols()));
    const View<const std::uint8_t> split = data.split("default");
    for (std::size_t v = 0; v < n; ++v) {
      for (Index c = 0; c < rows.cols(); ++c) gnn.features[v][std::size_t(c)] = rows.at(Index(v), c);
      gnn.labels.push_back(split.at(Index(v), 0) == 1 ? data.labels()[v] : -1);
    }
  }
  /// SAGE's weight has the vertex's own rows first, then the neighbours'.
  void take_weights(ChunkedGnn& gnn, const Parameters::Entry& entry, const Real* values) const {
    const auto rows = std::size_t(entry.spec.rows), cols = std::size_t(entry.spec.cols);
    if (entry.spec.name.ends_with("bias")) {
      gnn.bias.emplace_back(values, values + cols);
      return;
    }
    const std::size_t own = kind() == "sage" ? rows / 2 : 0;
    const auto take = [&](std::size_t begin, std::size_t end) {
      Dense taken;
      for (std::size_t i = begin; i < end; ++i)
        taken.emplace_back(values + i * cols, values + (i + 1) * cols);
      return taken;
    };
    if (own > 0) gnn.self_weight.push_back(take(0, own));
    gnn.weight.push_back(take(own, rows));
  }

  Learned learn(int ranks, int stages) const {
    Learned learned;
    std::mutex lock;
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job(ranks, stages), folder_ / "small", 1);
      const SmallResult mine = train_rank(comm, rank, kEpochs);
      const std::lock_guard guard(lock);
      const auto values = rank.trainer->parameters().values();
      for (const Parameters::Entry& e : rank.trainer->parameters().entries())
        if (e.count > 0)
          learned.weights[e.spec.name].assign(values.begin() + e.offset, values.begin() + e.offset + e.count);
      if (comm.rank() == 0) learned.losses = mine.losses;
    });
    return learned;
  }

  TemporaryFolder folder_;
};

/// A convolution's weights as the engine has them, a list.
std::vector<double> listed(const ChunkedGnn& gnn, std::size_t layer) {
  std::vector<double> all;
  const auto add = [&](const Dense& rows) {
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  };
  if (!gnn.self_weight.empty()) add(gnn.self_weight[layer]);
  add(gnn.weight[layer]);
  return all;
}

TEST_P(HistoryChunks, AreReadAndPaidBackAsDenseLoopsDo) {
  ChunkedGnn expected = dense();
  ASSERT_EQ(expected.layers(), 3U);
  std::vector<int> order(kChunks);
  std::vector<double> losses;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    put_chunk_order(order, variant().shuffled, job(1, 1).training.seed, epoch);  // the draw alone
    losses.push_back(expected.train(order));
  }
  EXPECT_LT(losses.back(), losses.front());
  for (const auto& [ranks, stages] : {std::pair{1, 1}, {3, 3}, {4, 2}}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << stages << " stages");
    const Learned learned = learn(ranks, stages);
    for (std::size_t e = 0; e < losses.size(); ++e)
      EXPECT_NEAR(learned.losses[e], losses[e], 1e-10) << "epoch " << e + 1;
    std::vector<std::vector<Real>> found;
    for (const auto& [name, values] : learned.weights)
      if (!name.ends_with("bias")) found.push_back(values);
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t l = 0; l < 3; ++l) {
      const std::vector<double> wanted = listed(expected, l);
      ASSERT_EQ(found[l].size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_NEAR(found[l][i], wanted[i], 1e-10) << "convolution " << l << ", weight " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, HistoryChunks,
                         testing::Combine(testing::Values("gcn", "sage"), testing::ValuesIn(variants())),
                         [](const auto& each) {
                           return std::get<0>(each.param) + "_" + std::get<1>(each.param).name;
                         });

}  // namespace
}  // namespace atl
