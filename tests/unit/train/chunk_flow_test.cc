// The order in which chunks of a pipeline are inferred.
#include "strategies/gnnpipe/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "comm/ranks.h"

namespace atl {
namespace {

using Kind = FlowStep::Kind;

/// Each reads the one before and the one behind, under these names.
ChunkReads line(const std::vector<int>& names) {
  ChunkReads reads(names.size());
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    reads[std::size_t(names[i])].push_back(names[i + 1]);
    reads[std::size_t(names[i + 1])].push_back(names[i]);
  }
  return reads;
}

ChunkReads everything(int chunks) {
  ChunkReads reads(static_cast<std::size_t>(chunks));
  for (int k = 0; k < chunks; ++k)
    for (int other = 0; other < chunks; ++other)
      if (other != k) reads[std::size_t(k)].push_back(other);
  return reads;
}

ChunkReads drawn(int chunks, unsigned seed) {
  std::mt19937 draw(seed);
  ChunkReads reads(static_cast<std::size_t>(chunks));
  for (int k = 0; k < chunks; ++k)
    for (int other = 0; other < chunks; ++other)
      if (other != k && draw() % 5 == 0) reads[std::size_t(k)].push_back(other);
  return reads;
}

/// Each chunk comes, goes through each layer and leaves once, and nothing is read before it is there.
void expect_sound(const ChunkReads& reads, const std::vector<bool>& gathers) {
  const std::vector<int> order = flow_order(reads);
  std::vector<int> sorted = order, left;
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < reads.size(); ++k) ASSERT_EQ(sorted[k], int(k));
  std::set<std::pair<int, int>> made;  // what is there: as input of a layer, of a chunk
  std::size_t arrived = 0;
  for (const FlowStep& step : chunk_flow(reads, order, gathers)) {
    if (step.kind == Kind::kArrive) {
      EXPECT_EQ(step.chunk, order[arrived++]);
      EXPECT_TRUE(made.emplace(0, step.chunk).second);
      continue;
    }
    if (step.kind == Kind::kLeave) {
      EXPECT_TRUE(made.contains({int(gathers.size()), step.chunk}));
      left.push_back(step.chunk);
      continue;
    }
    EXPECT_TRUE(made.contains({step.layer, step.chunk}));
    if (gathers[std::size_t(step.layer)]) {
      for (const int read : reads[std::size_t(step.chunk)])
        EXPECT_TRUE(made.contains({step.layer, read})) << step.chunk << " reads " << read;
    }
    EXPECT_TRUE(made.emplace(step.layer + 1, step.chunk).second) << "once";
  }
  EXPECT_EQ(made.size(), (gathers.size() + 1) * reads.size());
  EXPECT_EQ(left, order);
}

TEST(ChunkFlow, NothingIsReadBeforeItIsThere) {
  for (const std::vector<bool>& gathers :
       {std::vector<bool>{}, {true}, {false}, {true, true, true}, {false, true, false, true}}) {
    expect_sound(line({0, 1, 2, 3, 4}), gathers);
    expect_sound(everything(4), gathers);
    expect_sound(ChunkReads(3), gathers);
    expect_sound(ChunkReads(1), gathers);
    for (unsigned seed = 1; seed < 20; ++seed) expect_sound(drawn(9, seed), gathers);
  }
}

/// What flow_order() says of itself, counted anew for each place: of the chunks that are left, the next one
/// reads the fewest that aren't taken, less those that are; of equals it is the first.
std::vector<int> order_by_counting(const ChunkReads& reads) {
  std::vector<int> order;
  const auto is_taken = [&](int chunk) { return std::ranges::find(order, chunk) != order.end(); };
  while (order.size() < reads.size()) {
    std::set<std::pair<std::ptrdiff_t, int>> left;
    for (int chunk = 0; chunk < int(reads.size()); ++chunk) {
      const std::vector<int>& read = reads[std::size_t(chunk)];
      const auto taken = std::ranges::count_if(read, is_taken);
      if (!is_taken(chunk)) left.emplace(std::ptrdiff_t(read.size()) - 2 * taken, chunk);
    }
    order.push_back(left.begin()->second);
  }
  return order;
}

TEST(ChunkFlow, EachNextChunkReadsManyOfThoseBeforeAndFewOthers) {
  for (const ChunkReads& reads : {line({3, 1, 4, 0, 2}), everything(6), ChunkReads(4), ChunkReads(0)})
    EXPECT_EQ(flow_order(reads), order_by_counting(reads));
  for (unsigned seed = 1; seed < 10; ++seed)
    EXPECT_EQ(flow_order(drawn(30, seed)), order_by_counting(drawn(30, seed))) << seed;
}

TEST(ChunkFlow, ThousandsOfChunksHaveAnOrderAtOnce) {
  const ChunkReads reads = everything(3000);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<int> order = flow_order(reads);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(std::ranges::is_sorted(order)) << "all are equal";
  EXPECT_LT(seconds.count(), 4);  // only notices a blow-up
}

/// So many chunks that ranks tell each other of a few at a time.
TEST(ChunkFlow, AChunkReadsWhatItReadsOnAnyRank) {
  constexpr int kChunks = 700;
  const auto read_on = [](Rank rank, int chunk) { return (chunk * 7 + rank * 13) % kChunks; };
  run_ranks(2, [&](Communicator& comm) {
    std::vector<ChunkRun> runs(kChunks);
    std::vector<ChunkRows> chunks(kChunks);
    for (std::size_t k = 0; k < kChunks; ++k) {
      runs[k] = {1, read_on(comm.rank(), int(k))};
      chunks[k].runs = {&runs[k], 1};
    }
    const ChunkReads reads = reads_of_group(comm, RankGroup(comm, {}), chunks);
    ASSERT_EQ(reads.size(), std::size_t(kChunks));
    for (int k = 0; k < kChunks; ++k) {
      std::set<int> expected{read_on(0, k), read_on(1, k)};
      expected.erase(k);
      const std::vector<int>& found = reads[std::size_t(k)];
      EXPECT_EQ(std::set<int>(found.begin(), found.end()), expected) << "chunk " << k;
    }
  });
}

/// So many chunks have arrived when the first one leaves.
int arrived_when_first_leaves(const ChunkReads& reads, const std::vector<bool>& gathers) {
  int arrived = 0;
  for (const FlowStep& step : chunk_flow(reads, flow_order(reads), gathers)) {
    if (step.kind == Kind::kLeave) return arrived;
    arrived += step.kind == Kind::kArrive ? 1 : 0;
  }
  return -1;
}

/// Of a line of 32 the first one's rows after three layers depend on three more, however chunks are numbered:
/// the next stage has begun long before this one ends.
TEST(ChunkFlow, ChunksGoOnAsSoonAsWhatTheyReadIsThere) {
  std::vector<int> names(32);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = int(i * 7 % 32);
  EXPECT_EQ(arrived_when_first_leaves(line(names), {true, true, true}), 4);
  EXPECT_EQ(arrived_when_first_leaves(line(names), {true, false, true}), 3);
  EXPECT_EQ(arrived_when_first_leaves(line(names), {false, false}), 1);
  EXPECT_EQ(arrived_when_first_leaves(everything(32), {true}), 32) << "each reads all";
}

}  // namespace
}  // namespace atl
