#include "command/run/rank_start.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace atl {
namespace {

TEST(BuildId, IsWhatReadelfSays) {
  FILE* pipe = popen("readelf -n /proc/$PPID/exe 2>/dev/null | sed -n 's/.*Build ID: //p'", "r");
  ASSERT_NE(pipe, nullptr);
  char line[128] = "";
  const bool is_told = std::fgets(line, sizeof line, pipe) != nullptr;
  pclose(pipe);
  ASSERT_TRUE(is_told);
  EXPECT_EQ(build_id() + "\n", line);
}

}  // namespace
}  // namespace atl
