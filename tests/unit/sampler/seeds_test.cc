// The training vertices of each step: each once per epoch, from all parts in proportion, the same on any
// number of ranks.
#include "sampler/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "partition/sample_dataset.h"

namespace atl {
namespace {

using testing::HasSubstr;

TEST(SeedShares, EveryVertexTrainsOnceAnEpochAndEveryStepIsFull) {
  const std::vector<Index> training{17, 0, 400, 1, 83};
  for (const Index batch : {1, 2, 7, 64, 501, 1000}) {
    SeedShares shares(training, batch);
    std::vector<Index> taken(training.size(), 0);
    for (std::int64_t step = 0; step < shares.steps(); ++step) {
      Index size = 0;
      const auto of_step = shares.of_step(step);
      for (std::size_t p = 0; p < taken.size(); ++p) {
        EXPECT_EQ(of_step[p].begin, taken[p]);
        taken[p] += of_step[p].count;
        size += of_step[p].count;
      }
      EXPECT_EQ(size, shares.size(step));
      EXPECT_EQ(size, step + 1 < shares.steps() ? batch : shares.vertices() - step * batch);
    }
    EXPECT_EQ(taken, training) << "batch size " << batch;
  }
}

TEST(SeedShares, PartsGiveInProportion) {
  const std::vector<Index> training{100, 300, 50, 550};
  SeedShares shares(training, 40);
  for (std::int64_t step = 0; step < shares.steps(); ++step) {
    const auto of_step = shares.of_step(step);
    for (std::size_t p = 0; p < training.size(); ++p)
      EXPECT_LE(std::abs(double(of_step[p].count) - 40.0 * double(training[p]) / 1000), 1.5)
          << "part " << p << ", step " << step;
  }
}

/// As of the edges of link prediction, which are more than vertices can be: two steps by hand, and the rest.
TEST(SeedShares, BillionsOfSeedsAreSharedInProportion) {
  constexpr Index kBillion = 1'000'000'000;
  SeedShares shares({5 * kBillion, 3 * kBillion}, 4 * kBillion);
  ASSERT_EQ(shares.steps(), 2);
  for (const std::int64_t step : {0, 1}) {
    const auto of_step = shares.of_step(step);
    EXPECT_EQ(of_step[0].count, 5 * kBillion / 2) << step;
    EXPECT_EQ(of_step[1].count, 3 * kBillion / 2) << step;
    EXPECT_EQ(of_step[0].begin, step * 5 * kBillion / 2) << step;
  }
}

TEST(SeedShares, AStepCanBeAskedForFirst) {
  const std::vector<Index> training{31, 7, 64};
  SeedShares forward(training, 5), any(training, 5);
  std::vector<std::vector<Index>> counts;
  for (std::int64_t step = 0; step < forward.steps(); ++step) {
    auto& of_step = counts.emplace_back();
    for (const auto& share : forward.of_step(step)) of_step.push_back(share.begin * 1000 + share.count);
  }
  for (const std::int64_t step : {9, 3, 20, 0, 20}) {
    std::vector<Index> of_step;
    for (const auto& share : any.of_step(step)) of_step.push_back(share.begin * 1000 + share.count);
    EXPECT_EQ(of_step, counts[std::size_t(step)]) << step;
  }
}

TEST(SeedShares, ABatchSizeBelowOneIsRefusedWithItsField) {
  check_batch_size(1, "training.batchSize");
  try {
    check_batch_size(0, "training.batchSize");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("training.batchSize: 0 is not allowed (use 1 or more"));
  }
}

class SeedsOfRanks : public testing::Test {
 protected:
  static constexpr int kParts = 5;
  TemporaryFolder folder;
  Dataset dataset = sample_dataset(folder.path() / "sample", {300, 1500, 1, false});
  std::vector<std::uint8_t> marks = training_marks(dataset);
  PreparedGraph graph = PreparedGraph::make(dataset, {"metis", kParts}, {}, marks);

  Seeds seeds_of(const Owners& owners, Rank rank, Index batch, std::uint64_t seed = 1) const {
    const auto trains = [&](VertexId id) { return marks[std::size_t(id)] != 0; };
    return {graph.quality().training, training_rows(graph, owners, rank, trains), batch, seed};
  }
  /// The data set's ids of a step's vertices, over all ranks.
  std::vector<VertexId> step_of(int ranks, std::int64_t step, Index batch, std::uint64_t seed = 1) const {
    const Owners owners(graph.part_offsets(), ranks);
    std::vector<VertexId> all, rows;
    for (Rank rank = 0; rank < ranks; ++rank) {
      seeds_of(owners, rank, batch, seed).of_step(step, rows);
      for (const VertexId row : rows) {
        EXPECT_TRUE(owners.owns(rank, row));
        EXPECT_EQ(owners.owner_of(row), rank);
        all.push_back(graph.ids()[std::size_t(row)]);
      }
    }
    return all;
  }
};

TEST_F(SeedsOfRanks, AreTheSameOnAnyNumberOfRanks) {
  for (const std::int64_t step : {0, 3, 9, 10, 17})
    for (const int ranks : {2, 3, 5})
      EXPECT_EQ(step_of(ranks, step, 8), step_of(1, step, 8)) << ranks << " ranks";
}

TEST_F(SeedsOfRanks, AnEpochHoldsEachTrainingVertexOnceInANewOrder) {
  std::vector<VertexId> expected;
  for (VertexId v = 0; v < 300; ++v)
    if (marks[std::size_t(v)] != 0) expected.push_back(v);
  std::vector<std::vector<VertexId>> firsts;
  for (const std::int64_t epoch : {0, 1}) {
    std::vector<VertexId> all;
    for (std::int64_t step = 0; step < 10; ++step) {
      const auto some = step_of(3, 10 * epoch + step, 8);
      if (step == 0) firsts.push_back(some);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(all, expected);
  }
  EXPECT_NE(firsts[0], firsts[1]);
  EXPECT_NE(step_of(1, 0, 8, 1), step_of(1, 0, 8, 2)) << "another seed";
}

TEST_F(SeedsOfRanks, MoreRanksThanPartsAreRefused) {
  try {
    const Owners owners(graph.part_offsets(), 6);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("prepared in 5 parts for 6 ranks; prepare it in at least 6 parts"));
  }
}

}  // namespace
}  // namespace atl
