#include "plan/socket_work.h"

#include <gtest/gtest.h>

#include <ctime>

namespace atl {
namespace {

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Of carrying 16 MB, bit by bit as a link lets them through.
double takes(SocketWork& work) {
  const double begin = thread_seconds();
  for (int i = 0; i < 16 << 10; ++i) work.carry(1 << 10);
  return thread_seconds() - begin;
}

/// A connection takes about 0.3 ms a MB, so one tells by bounds that no machine's differs by.
TEST(SocketWork, TakesWhatALinkIsSaidToTake) {
  SocketWork little(1e-12), much(10e-9);
  EXPECT_LT(takes(little), 2e-3);
  EXPECT_GT(takes(much), 0.5 * 0.168);
  EXPECT_LT(takes(much), 2 * 0.168);
}

}  // namespace
}  // namespace atl
