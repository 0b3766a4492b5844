// Under cagnet the result equals that of one rank, for every model, with dropout, any number of ranks and any
// partitioner: float64, 20 epochs. Its bytes equal the paper's formula.
#include <gmock/gmock.h>

#include <mutex>

#include "train/every_model.h"
#include "train/small_job.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  const SmallData sparse{.density = 0.15}, weighted{.weighted = true}, directed{.symmetric = false};
  return {
      {"gcn", {}},
      {"gcn_input_dropout", {"training.inputDropout={rate: 0.3}"}},
      {"gcn_transform_first", {"training.inputDropout={rate: 0.3}"}, {.features = 20}},
      {"gcn_sparse", {}, sparse},
      {"gcn_directed", {}, directed},
      {"gcn_batch_norm_recompute", {"model.norm=batch", "training.recompute=layer"}},
      {"gcn_inductive_batch_norm", {"model.norm=batch", "training.setting=inductive"}},
      {"sage", {"model.kind=sage"}},
      {"sage_bits", {"model.kind=sage", "model.norm=batch"}, kBitData},
      {"sage_inductive_sparse", {"model.kind=sage", "training.setting=inductive"}, sparse},
      {"gat_weighted", {"model.kind=gat", "model.options={heads: 2}"}, weighted},
      {"gcnii_recompute", {"model.kind=gcnii", "training.recompute=layer"}},
  };
}

Job cagnet_job(std::vector<std::string> fields) {
  fields.push_back("strategy.kind=cagnet");
  return small_job(fields);
}

class Cagnet : public testing::TestWithParam<SmallCase> {};

TEST_P(Cagnet, IsOneRankOnAnyNumberOfRanks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, 20);
  expect_same_training(one, train_small(cagnet_job(GetParam().fields), folder / "small", 1, 20), "1 rank");
  const std::pair<int, const char*> runs[] = {{2, "metis"}, {3, "range"}, {5, "hash"}, {8, "metis"}};
  for (const auto& [ranks, partitioner] : runs) {
    Job job = cagnet_job(GetParam().fields);
    job.placement.partitioner.kind = partitioner;
    expect_same_training(one, train_small(job, folder / "small", ranks, 20),
                         fmt::format("{} ranks, {}", ranks, partitioner));
  }
  expect_same_training(one,
                       train_small(cagnet_job(GetParam().fields), folder / "small", 4, 20, 1, {2, 0, 3, 1}),
                       "4 ranks, parts 2, 0, 3, 1");
}

INSTANTIATE_TEST_SUITE_P(Every, Cagnet, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Models, Cagnet, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(CagnetSmall, ARankWithoutVertices) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  for (const std::string& model : every_kind()) {
    const std::vector<std::string> fields{fmt::format("model.kind={}", model),
                                          "placement.partitioner={kind: hash}"};
    EXPECT_TRUE(odd_ranks(cagnet_job(fields), folder / "small", {4}).without_vertices);
    const SmallResult one = train_small(small_job(fields), folder / "small", 1, 5);
    expect_same_training(one, train_small(cagnet_job(fields), folder / "small", 4, 5), model);
  }
}

TEST(CagnetSmall, TheSameBitsInEveryRunAndOnAnyNumberOfThreads) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = cagnet_job({"model.kind=gat"});
  const SmallResult first = train_small(job, folder / "small", 4, 5);
  EXPECT_EQ(train_small(job, folder / "small", 4, 5).weights, first.weights);
  EXPECT_EQ(train_small(job, folder / "small", 4, 5, 3).weights, first.weights);
}

/// A broadcast brings each rank the n − n_p rows of the others, also those that it doesn't read; gradients go
/// back so.
TEST(CagnetSmall, EveryRowGoesToEveryOtherRankAndBack) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 60, .arc_share = 0.02});
  const Job job = cagnet_job({});
  const int ranks = 4;
  const Index n = 60, widths = 8 + 3;  // the second layer reads rows, the last one products with its weight
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    const Ledger after = comm.ledger();
    const auto sent = [&](Traffic purpose) {
      return after.bytes(Link::kIntra, purpose) - before.bytes(Link::kIntra, purpose);
    };
    const GraphPart& part = rank.data.part();
    const Index owned = part.graph->owned, bytes = Index(sizeof(Real)) * widths;
    EXPECT_LT(part.graph->halo, n - owned) << "some row isn't read";
    EXPECT_EQ(sent(Traffic::kHalo), (ranks - 1) * owned * bytes);
    EXPECT_EQ(sent(Traffic::kHaloGradient), (n - owned) * bytes);
  });
}

}  // namespace
}  // namespace atl
