// SIGN compared with its paper's formula: the powers of the normalised adjacency, a product for each, and the
// layer over all of them. Also the bytes of its sums, which are sent once.
#include <gtest/gtest.h>

#include "comm/ledger.h"
#include "strategies/schedule/full_batch.h"
#include "train/paper_formula.h"

namespace atl {
namespace {

struct Depth {
  int hops = 3, hop_layers = 1, dense_layers = 0;
};

/// The logits that equations 2 and 3 give with these weights: each hop goes through its own products, the
/// hops are put together, and dense layers follow.
Dense equations(const Dataset& dataset, const Depth& depth, Parameters& parameters) {
  const Dense a = symmetric_adjacency(dataset);
  Dense power = features_of(dataset), z = zeros(power.size(), 0);
  for (std::size_t k = 0; k <= std::size_t(depth.hops); ++k) {
    if (k > 0) power = product(a, power);
    Dense h = power;
    for (int l = depth.hops; l < depth.hops + depth.hop_layers; ++l) {
      const ConstMatrixView theta = parameters.value(l, 0);
      h = affine(h, theta, parameters.value(l, 1), k * h[0].size(), k * std::size_t(theta.cols));
      relu(h);
    }
    for (std::size_t v = 0; v < z.size(); ++v) z[v].insert(z[v].end(), h[v].begin(), h[v].end());
  }
  const int last = depth.hops + depth.hop_layers + depth.dense_layers;
  for (int l = depth.hops + depth.hop_layers; l <= last; ++l) {
    z = affine(z, parameters.value(l, 0), parameters.value(l, 1));
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
  std::vector<std::string> fields{"model.kind=sign", "model.options={hops: 3}"};
  fields.insert(fields.end(), GetParam().fields.begin(), GetParam().fields.end());
  expect_formula(fields, GetParam().data, [](const Dataset& dataset, const Job& job, Parameters& parameters) {
    return equations(dataset, depth_of(job), parameters);
  });
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
