// Under cagnet with a replication above 1 (1.5D) the result equals that of one rank: float64, 20 epochs, with
// dropout.
#include <gmock/gmock.h>

#include "train/every_model.h"
#include "train/small_job.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  return {
      {"gcn", {}},
      {"gcn_input_dropout_weighted", {"training.inputDropout={rate: 0.3}"}, {.weighted = true}},
      {"gcn_transform_first", {"training.inputDropout={rate: 0.3}"}, {.features = 20}},
      {"gcn_directed_batch_norm_recompute",
       {"model.norm=batch", "training.recompute=layer"},
       {.symmetric = false}},
      {"sage", {"model.kind=sage"}},
      {"sage_inductive_bits", {"model.kind=sage", "training.setting=inductive"}, kBitData},
      {"sage_sparse", {"model.kind=sage", "model.norm=batch"}, {.density = 0.15}},
      {"gat_directed_recompute", {"model.kind=gat", "training.recompute=layer"}, {.symmetric = false}},
      {"gat_inductive_bits", {"model.kind=gat", "training.setting=inductive"}, kBitData},
  };
}

Job grid_job(std::vector<std::string> fields, int ranks, int replication) {
  fields.insert(fields.end(), {"strategy.kind=cagnet", fmt::format("placement.ranks={}", ranks),
                               fmt::format("strategy.cagnet={{replication: {}}}", replication)});
  return small_job(fields);
}

class CagnetGridOfRanks : public testing::TestWithParam<SmallCase> {};

TEST_P(CagnetGridOfRanks, IsOneRank) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, 20);
  struct Run {
    int ranks, replication;
    const char* partitioner;
  };
  for (const auto& [ranks, replication, partitioner] :
       {Run{4, 2, "metis"}, {8, 2, "hash"}, {9, 3, "range"}, {16, 4, "metis"}}) {
    Job job = grid_job(GetParam().fields, ranks, replication);
    job.placement.partitioner.kind = partitioner;
    expect_same_training(one, train_small(job, folder / "small", ranks, 20),
                         fmt::format("{} ranks, c = {}, {}", ranks, replication, partitioner));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CagnetGridOfRanks, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Models, CagnetGridOfRanks, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(CagnetGridSmall, RanksWithoutVertices) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  for (const SmallCase& model : every_model()) {
    std::vector<std::string> fields = model.fields;
    fields.emplace_back("placement.partitioner={kind: hash}");
    EXPECT_TRUE(odd_ranks(grid_job(fields, 8, 2), folder / "small", {8}).without_vertices);
    const SmallResult one = train_small(small_job(fields), folder / "small", 1, 5);
    expect_same_training(one, train_small(grid_job(fields, 8, 2), folder / "small", 8, 5), model.name);
  }
}

std::string refusal(const std::vector<std::string>& fields, int ranks, int replication) {
  try {
    grid_job(fields, ranks, replication);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CagnetGridSmall, OtherGridsAreRefusedWithThoseThatThereAre) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal({}, 8, 4), HasSubstr("the square of 4 does not divide placement.ranks 8 (use 1 or 2)"));
  EXPECT_THAT(refusal({}, 36, 4), HasSubstr("(use 1 or 2 or 3 or 6)"));
  EXPECT_THAT(refusal({}, 6, 2), HasSubstr("(use 1)"));
  EXPECT_EQ(refusal({}, 12, 2), "");
}

/// With c = 2 on 4 ranks each rank takes the rows of two of them, and sums for two.
TEST(CagnetGridSmall, ARankTakesItsShareOfTheRows) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  run_ranks(4, [&](Communicator& comm) {
    SmallRank rank(comm, grid_job({}, 4, 2), folder / "small", 1);
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    const Ledger after = comm.ledger();
    const auto sent = [&](Traffic purpose) {
      return (after.bytes(Link::kIntra, purpose) - before.bytes(Link::kIntra, purpose)) / Index(sizeof(Real));
    };
    const auto owned = [offsets = rank.prepared.part_offsets()](Rank r) {
      return offsets[std::size_t(r) + 1] - offsets[std::size_t(r)];
    };
    const Rank me = comm.rank(), partner = me ^ 1;
    const bool keeps_own =
        me == 0 || me == 3;  // (row, column) = (0, 0) takes ranks 0 and 1; (1, 1) takes 2 and 3
    const Index widths = 8 + 3,
                sums = 8 + 3;  // an input, and the last layer's products, which are what it aggregates
    EXPECT_EQ(sent(Traffic::kHalo), (keeps_own ? 1 : 2) * owned(me) * widths + owned(partner) * sums);
    Index taken = 0;
    for (const Rank from : me % 2 == 0 ? std::array{0, 1} : std::array{2, 3})
      if (from != me) taken += owned(from);
    EXPECT_EQ(sent(Traffic::kHaloGradient), taken * widths + owned(me) * sums);
  });
}

}  // namespace
}  // namespace atl
