// A lane's messages to a peer leave in the order in which they were started, whatever goes to other peers.
#include "comm/mpi_lane.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Turns, EachPeersSendsGoInTheirOrder) {
  Turns turns(2, 4);
  const std::int64_t first = turns.draw(0, 1), second = turns.draw(0, 1), other = turns.draw(1, 1);
  EXPECT_TRUE(turns.is_up(0, first));
  EXPECT_FALSE(turns.is_up(0, second)) << "the first may be waiting for its receiver";
  EXPECT_TRUE(turns.is_up(1, other)) << "another peer's waits for none of them";
  turns.go(0);
  EXPECT_FALSE(turns.is_up(0, first)) << "it is on its way";
  EXPECT_TRUE(turns.is_up(0, second));
}

TEST(Turns, AsManyAreOnTheirWayAsMay) {
  Turns turns(1, 2);
  EXPECT_EQ(turns.draw(0, 3), 0);
  EXPECT_EQ(turns.draw(0, 1), 3);
  turns.go(0), turns.go(0);
  EXPECT_FALSE(turns.is_up(0, 2));
  turns.arrive(0);
  EXPECT_TRUE(turns.is_up(0, 2));
}

}  // namespace
}  // namespace atl
