// A rank's shape is counted as it would be built, and a dry run over it touches no memory.
#include "plan/dry_run.h"

#include <gtest/gtest.h>

#include "base/memory.h"
#include "plan/memory.h"
#include "plan/rank_shape.h"
#include "plan/traffic.h"
#include "train/small_job.h"

namespace atl {
namespace {

TEST(RankShape, CountsWhatLocalizeBuilds) {
  for (const bool symmetric : {true, false}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.symmetric = symmetric});
    const Job job = small_job({});
    const Dataset dataset = Dataset::open(folder / "small");
    const auto prepared = PreparedGraph::make(dataset, partition_options(job, 3), graph_transforms(job),
                                              training_marks(dataset, job));
    for (Rank rank = 0; rank < 3; ++rank) {
      const RankShape shape = rank_shape(prepared, rank, {});
      const auto local = localize(prepared, rank, {});
      EXPECT_EQ(shape.owned, local->owned);
      EXPECT_EQ(shape.halo, local->halo);
      EXPECT_EQ(shape.own_arcs, local->own.arcs());
      EXPECT_EQ(shape.outer_arcs, local->outer.arcs());
      EXPECT_EQ(shape.own_is_symmetric, local->own_is_symmetric);
      ASSERT_EQ(shape.peers.size(), local->peers.size());
      for (std::size_t p = 0; p < shape.peers.size(); ++p) {
        EXPECT_EQ(shape.peers[p].peer, local->peers[p].peer);
        EXPECT_EQ(shape.peers[p].send, Index(local->peers[p].send.size()));
        EXPECT_EQ(shape.peers[p].receive, local->peers[p].receive_count);
      }
    }
  }
}

/// A job of many gigabytes is sized on a machine that has none to spare.
TEST(DryRun, TouchesNoMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers write a note of every reserved byte";
#endif
  const Job job = small_job({"model.hidden=256", "model.norm=batch"});
  RankShape shape;
  shape.ranks = 2;
  shape.owned = 2'000'000;
  shape.halo = 500'000;
  shape.own_arcs = 100'000'000;
  shape.outer_arcs = 10'000'000;
  shape.peers = {{1, 400'000, 500'000}};
  const auto before = process_memory().peak_bytes;
  const DryRun dry = dry_run({job, {128}, 40, false, 4e6, 2, shape, {}});
  EXPECT_GT(dry.schedule.total(), std::int64_t(8) << 30);
  EXPECT_LT(process_memory().peak_bytes - before, std::int64_t(128) << 20);
}

/// Of matrices that are each larger than 32 bits count.
TEST(DryRun, CountsBytesIn64Bits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers write a note of every reserved byte";
#endif
  const Index owned = 1'200'000, halo = 1'100'000, sent = 1'150'000, hidden = 512, features = 128,
              classes = 40;
  const Job job = small_job({"model.hidden=512"});
  RankShape shape;
  shape.ranks = 2;
  shape.owned = owned;
  shape.halo = halo;
  shape.peers = {{1, sent, halo}};
  const DryRunInput input{job, {features}, classes, false, 2.0 * owned, 2, shape, {}};
  const DryRun dry = dry_run(input);
  const Index row_bytes = (hidden + classes) * Index(sizeof(Real));  // the last layer sends its products
  EXPECT_EQ(dry.epoch[std::size_t(Traffic::kHalo)], sent * row_bytes);
  EXPECT_EQ(dry.epoch[std::size_t(Traffic::kHaloGradient)], halo * row_bytes);
  const auto expect_held = [](Index found, Index elements) {  // in whole pages of 2 MiB each
    const Index bytes = elements * Index(sizeof(Real)), pages = 4 * (Index(2) << 20);
    EXPECT_TRUE(found >= bytes && found < bytes + pages) << found << " bytes for " << bytes;
  };
  expect_held(dry.schedule.halo, (sent + halo) * hidden);  // no halo rows are kept for backward
  expect_held(dry.schedule.activations, owned * (features + 2 * hidden + classes));
  const Model model = planned_model(job, {features}, classes);
  const RankMemory memory = rank_memory({input, dry, model});
  Index items = 0;
  for (const MemoryItem& item : memory.items) items += item.bytes;
  EXPECT_EQ(memory.training, items);
  EXPECT_GT(memory.peak(), dry.schedule.total());
}

}  // namespace
}  // namespace atl
