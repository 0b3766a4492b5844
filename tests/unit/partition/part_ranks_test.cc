// The part of each rank, and the rank of each part.
#include "partition/local_graph.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace atl {
namespace {

TEST(PartRanks, AreThereAndBack) {
  const PartRanks ranks({2, 0, 3, 1});
  EXPECT_EQ(ranks.part_of(0), 2);
  for (Rank rank = 0; rank < 4; ++rank) EXPECT_EQ(ranks.rank_of(ranks.part_of(rank)), rank);
  EXPECT_EQ(PartRanks().part_of(7), 7);
  EXPECT_EQ(PartRanks().rank_of(7), 7);
}

TEST(PartRanks, AreReadAsTheyAreWritten) {
  const std::vector<int> parts{2, 0, 1};
  EXPECT_EQ(parts_text(parts), "2,0,1");
  EXPECT_EQ(read_parts("2,0,1", 3, "--parts"), parts);
}

TEST(PartRanks, WhatIsNoPermutationIsRefused) {
  for (const char* text : {"", "0,1", "0,1,2,3", "0,1,1", "0,1,3", "0,-1,2", "0,1,x", "0,1,2x", "0;1;2"}) {
    try {
      read_parts(text, 3, "--parts");
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("--parts: '" + std::string(text) + "' is not allowed"));
    }
  }
}

}  // namespace
}  // namespace atl
