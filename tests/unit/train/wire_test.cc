// strategy.wire: bfloat16 under every exchange: half the bytes, and nearly the same training.
#include <gmock/gmock.h>

#include <mutex>

#include "train/small_job.h"

namespace atl {
namespace {

struct Sent {
  std::vector<double> losses;
  std::array<std::int64_t, kTraffics> bytes{};  // by purpose, over all ranks
  std::int64_t of(Traffic purpose) const { return bytes[std::size_t(purpose)]; }
};

Sent train(std::vector<std::string> fields, const std::filesystem::path& data, int threads = 1) {
  fields.insert(fields.begin(), "placement.ranks=3");
  const Job job = small_job(fields);
  Sent sent;
  std::mutex lock;
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, threads);
    std::vector<double> losses;
    for (Index epoch = 1; epoch <= 20; ++epoch) {
      double loss = rank.trainer->train_epoch(epoch, 0.01);
      comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
      losses.push_back(loss);
    }
    rank.trainer->evaluate();
    const Ledger ledger = comm.ledger();
    std::lock_guard guard(lock);
    if (comm.rank() == 0) sent.losses = losses;
    for (int t = 0; t < kTraffics; ++t) sent.bytes[std::size_t(t)] += ledger.bytes(Link::kIntra, Traffic(t));
  });
  return sent;
}

class Wire : public testing::TestWithParam<SmallCase> {};

TEST_P(Wire, HalfTheBytesAndNearlyTheSameLosses) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  std::vector<std::string> fields = GetParam().fields;
  const Sent whole = train(fields, folder / "small");
  fields.push_back("strategy.wire=bfloat16");
  const Sent narrow = train(fields, folder / "small");
  ASSERT_GT(whole.of(Traffic::kHalo) + whole.of(Traffic::kPartial), 0);
  for (const Traffic t : {Traffic::kHalo, Traffic::kHaloGradient, Traffic::kRecompute, Traffic::kStage,
                          Traffic::kStageGradient, Traffic::kPartial, Traffic::kPartialGradient})
    EXPECT_EQ(2 * narrow.of(t), whole.of(t)) << traffic_name(t);
  for (const Traffic t : {Traffic::kGradient, Traffic::kEvaluation, Traffic::kSetup})
    EXPECT_EQ(narrow.of(t), whole.of(t)) << traffic_name(t) << " crosses as it is";
  for (std::size_t e = 0; e < whole.losses.size(); ++e)
    EXPECT_NEAR(narrow.losses[e], whole.losses[e], 0.01 * whole.losses[e]) << "epoch " << e + 1;
  EXPECT_NE(narrow.losses, whole.losses) << "rows are rounded";
}

TEST_P(Wire, TheSameBitsOnAnyNumberOfThreads) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  std::vector<std::string> fields = GetParam().fields;
  fields.push_back("strategy.wire=bfloat16");
  EXPECT_EQ(train(fields, folder / "small", 2).losses, train(fields, folder / "small").losses);
}

/// On a grid, parts of softmaxes cross whole: what narrow rows save is the blocks' halves alone.
TEST(WireOfSoftmaxes, OnlyBlocksAreNarrow) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const std::vector<std::string> gat{"strategy.kind=cagnet", "placement.ranks=4", "model.kind=gat",
                                     "model.options={heads: 2}"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), gat.begin(), gat.end());
    return train(more, folder / "small");
  };
  const char* grid = "strategy.cagnet={replication: 2}";
  const Sent whole = with({grid}), narrow = with({grid, "strategy.wire=bfloat16"});
  // Of four ranks in 1D each sends its block to three others, in a grid to two or, of those that keep their
  // own, to one.
  const std::int64_t blocks = with({}).of(Traffic::kHalo) / 2;
  for (const Traffic t : {Traffic::kHalo, Traffic::kHaloGradient})
    EXPECT_NEAR(double(whole.of(t) - narrow.of(t)), double(blocks) / 2, 0.05 * double(blocks))
        << traffic_name(t);
  for (std::size_t e = 0; e < whole.losses.size(); ++e)
    EXPECT_NEAR(narrow.losses[e], whole.losses[e], 0.01 * whole.losses[e]) << "epoch " << e + 1;
}

INSTANTIATE_TEST_SUITE_P(
    Exchanges, Wire,
    testing::Values(
        SmallCase{"graph", {"model.kind=sage"}},
        SmallCase{"graph_recompute", {"training.recompute=layer", "model.norm=layer"}},
        SmallCase{"graph_gat", {"model.kind=gat", "model.options={heads: 2}"}},
        SmallCase{"bns", {"strategy.kind=bns", "strategy.bns={rate: 0.4}"}},
        SmallCase{"pipegcn", {"strategy.kind=pipegcn", "strategy.pipegcn={smoothing: both}"}},
        SmallCase{"pipegcn_sampled", {"strategy.kind=pipegcn", "strategy.pipegcn={boundaryRate: 0.4}"}},
        SmallCase{"cagnet", {"strategy.kind=cagnet", "training.recompute=layer"}},
        SmallCase{"cagnet_gat", {"strategy.kind=cagnet", "model.kind=gat", "model.options={heads: 2}"}},
        SmallCase{"cagnet_grid",
                  {"strategy.kind=cagnet", "strategy.cagnet={replication: 2}", "placement.ranks=4",
                   "training.recompute=layer"}},
        SmallCase{"sancus", {"strategy.kind=sancus", "strategy.sancus={warmup: 5}"}},
        SmallCase{"sancus_with_rows",
                  {"strategy.kind=sancus", "strategy.sancus={warmup: 5, gradients: withRows}"}},
        SmallCase{"gnnpipe", {"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 1, chunks: 4}"}},
        SmallCase{
            "gnnpipe_stages",
            {"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 2, chunks: 4, historicalGradients: true}",
             "placement.ranks=4", "model.kind=gcnii", "model.layers=4"}},
        SmallCase{"gnnpipe_recompute",
                  {"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 2, chunks: 5}", "placement.ranks=4",
                   "training.recompute=layer", "model.norm=layer", "model.hidden=7"}},
        SmallCase{"p3", {"strategy.kind=p3", "strategy.p3={batchSize: 9}"}},
        SmallCase{"p3_pipeline",
                  {"strategy.kind=p3", "strategy.p3={delay: 3, batchSize: 9}", "training.recompute=layer"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
