// The order in which chunks of a pipeline are inferred.
#include "strategies/gnnpipe/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

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
