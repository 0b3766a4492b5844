// What a lane sends to a peer leaves in the order in which it was started, whoever else is sent to.
#include "comm/turns.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Turns, EachPeersSendsGoOneAfterTheOther) {
  Turns turns(2);
  const std::int64_t first = turns.draw(0), second = turns.draw(0), other = turns.draw(1);
  EXPECT_TRUE(turns.is_up(0, first));
  EXPECT_FALSE(turns.is_up(0, second));
  EXPECT_TRUE(turns.is_up(1, other)) << "another peer's waits for none of them";
  turns.pass(0);
  EXPECT_FALSE(turns.is_up(0, first)) << "it has gone";
  EXPECT_TRUE(turns.is_up(0, second));
}

}  // namespace
}  // namespace atl
