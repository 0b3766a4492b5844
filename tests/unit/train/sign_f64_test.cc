// SIGN compared with dense matrices in plain loops: the powers of the normalised adjacency, a product for
// each, and the layer over all of them, from the data set's arcs alone, on any number of ranks. Also the
// bytes of its sums, which are sent once.
#include <gtest/gtest.h>

#include "comm/ledger.h"
#include "strategies/schedule/full_batch.h"
#include "train/small_job.h"

namespace atl {
namespace {

using Dense = std::vector<std::vector<double>>;

Dense zeros(std::size_t rows, std::size_t cols) {
  return Dense(rows, std::vector<double>(cols, 0.0));
}

Dense product(const Dense& a, const Dense& b) {
  Dense out = zeros(a.size(), b[0].size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
  return out;
}

/// D^-½ (A + I) D^-½ by vertex.
Dense adjacency(const Dataset& dataset) {
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

Dense features(const Dataset& dataset) {
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

/// Rows `begin` … of a parameter.
Dense rows_of(ConstMatrixView w, std::size_t begin, std::size_t count) {
  Dense rows = zeros(count, std::size_t(w.cols));
  for (std::size_t r = 0; r < count; ++r)
    for (Index c = 0; c < w.cols; ++c) rows[r][std::size_t(c)] = double(w.at(Index(begin + r), c));
  return rows;
}

/// h · (rows `begin` … of w) + (as many columns of bias, from `first` on).
Dense affine(const Dense& h, ConstMatrixView w, std::size_t begin, ConstMatrixView bias, std::size_t first) {
  Dense out = product(h, rows_of(w, begin, h[0].size()));
  for (auto& row : out)
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += double(bias.at(0, Index(first + c)));
  return out;
}

void relu(Dense& h) {
  for (auto& row : h)
    for (double& value : row) value = std::max(0.0, value);
}

struct Depth {
  int hops = 3, hop_layers = 1, dense_layers = 0;
};

/// The logits that equations 2 and 3 give with these weights: each hop goes through its own products, the
/// hops are put together, and dense layers follow.
Dense equations(const Dataset& dataset, const Depth& depth, Parameters& parameters) {
  const Dense a = adjacency(dataset);
  Dense power = features(dataset), z = zeros(power.size(), 0);
  for (std::size_t k = 0; k <= std::size_t(depth.hops); ++k) {
    if (k > 0) power = product(a, power);
    Dense h = power;
    for (int l = depth.hops; l < depth.hops + depth.hop_layers; ++l) {
      const ConstMatrixView theta = parameters.value(l, 0);
      h = affine(h, theta, k * h[0].size(), parameters.value(l, 1), k * std::size_t(theta.cols));
      relu(h);
    }
    for (std::size_t v = 0; v < z.size(); ++v) z[v].insert(z[v].end(), h[v].begin(), h[v].end());
  }
  const int last = depth.hops + depth.hop_layers + depth.dense_layers;
  for (int l = depth.hops + depth.hop_layers; l <= last; ++l) {
    z = affine(z, parameters.value(l, 0), 0, parameters.value(l, 1), 0);
    if (l < last) relu(z);
  }
  return z;
}

Depth depth_of(const Job& job) {
  const Options& options = job.model.options;
  return {int(options.integer("hops")), int(options.integer("hopLayers")), job.model.dense_layers};
}

class Sign : public testing::TestWithParam<SmallCase> {};

TEST_P(Sign, IsItsEquationsOnAnyNumberOfRanks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields{"model.kind=sign", "model.options={hops: 3}"};
  fields.insert(fields.end(), GetParam().fields.begin(), GetParam().fields.end());
  for (const int ranks : {1, 2, 3}) {
    Job job = small_job(fields);
    job.placement.ranks = ranks;
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      for (Index epoch = 1; epoch <= 3; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
      const ConstMatrixView logits = rank.trainer->inference().infer();
      const Dense wanted = equations(rank.dataset, depth_of(job), rank.trainer->parameters());
      const std::span<const VertexId> ids = rank.data.owned_ids();
      for (std::size_t v = 0; v < ids.size(); ++v)
        for (Index c = 0; c < logits.cols; ++c)
          ASSERT_NEAR(logits.at(Index(v), c), wanted[std::size_t(ids[v])][std::size_t(c)], 1e-10)
              << ranks << " ranks, vertex " << ids[v];
    });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Sign,
    testing::Values(SmallCase{"graph", {}}, SmallCase{"weighted", {}, {.weighted = true}},
                    SmallCase{"three_products_a_hop", {"model.options.hopLayers=3"}},
                    SmallCase{"dense_layers", {"model.denseLayers=2"}},
                    SmallCase{"deep_pipegcn",
                              {"model.options.hopLayers=2", "model.denseLayers=1", "strategy.kind=pipegcn"}},
                    SmallCase{"deep_batches",
                              {"model.options.hopLayers=2", "model.denseLayers=1", "strategy.kind=minibatch",
                               "strategy.minibatch={sampler: none, batchSize: 7}"}},
                    SmallCase{"sparse", {}, {.density = 0.15}}, SmallCase{"bits", {}, kBitData},
                    SmallCase{"pipegcn", {"strategy.kind=pipegcn"}},
                    SmallCase{"bns", {"strategy.kind=bns", "strategy.bns.rate=0.3"}},
                    SmallCase{"cagnet", {"strategy.kind=cagnet"}},
                    SmallCase{"sancus", {"strategy.kind=sancus"}},
                    SmallCase{"gnnpipe", {"strategy.kind=gnnpipe"}},
                    SmallCase{"granndis", {"strategy.kind=granndis", "placement.ranksPerServer=1"}},
                    SmallCase{"minibatch",
                              {"strategy.kind=minibatch", "strategy.minibatch.fanout=[2, 2, 2]"}}),
    [](const auto& each) { return each.param.name; });

/// What a rank sends while its trainer is made.
std::int64_t sent_once(const Job& job, const std::filesystem::path& data, Index& read_by_others) {
  std::int64_t bytes = 0;
  read_by_others = 0;
  std::mutex lock;
  run_ranks(3, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    Index rows = 0;
    for (const PeerRows& peer : rank.data.part().graph->peers) rows += Index(peer.send.size());
    const std::int64_t mine = comm.ledger().bytes(Link::kIntra, Traffic::kSetup);
    std::lock_guard guard(lock);
    bytes += mine, read_by_others += rows;
  });
  return bytes;
}

/// The first sum reads features of the data set; each further one sends the last power's columns of the halo
/// rows, and no other.
TEST(SignsSums, SendOnePowerEach) {
  TemporaryFolder folder;
  const SmallData data;
  write_small_data(folder / "small", data);
  std::int64_t before = -1;
  for (int hops = 1; hops <= 4; ++hops) {
    const Job job = small_job({"model.kind=sign", fmt::format("model.options={{hops: {}}}", hops)});
    Index rows = 0;
    const std::int64_t sent = sent_once(job, folder / "small", rows);
    ASSERT_GT(rows, 0);
    if (before >= 0) {
      EXPECT_EQ(sent - before, rows * data.features * Index(sizeof(Real))) << hops;
    }
    before = sent;
  }
}

/// The powers, and nothing as wide beside them. Matrices begin at cache lines.
TEST(SignsSums, LieInOneMemory) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"model.kind=sign", "model.options={hops: 3}", "model.hidden=1"});
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Index owned = rank.data.part().graph->owned, outputs = 4 + 3;
    const Index least = owned * Index(sizeof(Real)) * (4 * 6 + outputs);
    EXPECT_GE(rank.trainer->bytes().activations, least);
    EXPECT_LT(rank.trainer->bytes().activations, least + 3 * 64);
    const Model& model = rank.trainer->model();
    EXPECT_EQ(first_in_place(model, {0, model.constant_prefix()}), 0) << "nor while they are computed";
  });
}

}  // namespace
}  // namespace atl
