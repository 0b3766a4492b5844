#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace atl {
namespace {

constexpr std::int64_t kBlock = 64 << 20;

TEST(ProcessMemory, GrowsByWhatIsTouchedAndThePeakStays) {
  const ProcessMemory before = process_memory();
  EXPECT_GT(before.resident_bytes, 0);
  EXPECT_GE(before.peak_bytes, before.resident_bytes);
  auto block = std::make_unique<char[]>(kBlock);
  std::memset(block.get(), 1, kBlock);
  const ProcessMemory with = process_memory();
  EXPECT_GT(with.resident_bytes - before.resident_bytes, kBlock * 9 / 10);
  EXPECT_GT(with.anonymous_bytes - before.anonymous_bytes, kBlock * 9 / 10);
  block.reset();
  const ProcessMemory after = process_memory();
#ifndef __SANITIZE_ADDRESS__  // it holds freed memory back
  EXPECT_LT(after.resident_bytes, with.resident_bytes - kBlock / 2);
#endif
  EXPECT_GE(after.peak_bytes, with.peak_bytes - kBlock / 50);  // the kernel counts in batches of pages
}

}  // namespace
}  // namespace atl
