#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>

#include "temporary_folder.h"

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

/// A tree of files in place of /proc and /sys.
class Room {
 public:
  Room() {
    file("proc/meminfo",
         "MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable: 1024 kB\nSwapTotal: 2048 kB\nSwapFree: 512 kB\n");
  }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  MemoryRoom read() const { return memory_room(folder_ / ""); }

 private:
  TemporaryFolder folder_;
};

TEST(MemoryRoom, IsTheMachinesMemoryAndSwap) {
  const MemoryRoom room = Room().read();
  EXPECT_EQ(room.total, 6144 * 1024.0);
  EXPECT_EQ(room.available, 1536 * 1024.0);
  EXPECT_FALSE(room.limited);
}

TEST(MemoryRoom, IsLessInAControlGroupThatIsLimited) {
  Room pod;
  pod.file("proc/self/cgroup", "0::/pod/rank\n");
  pod.file("sys/fs/cgroup/pod/rank/memory.max", "max\n");
  pod.file("sys/fs/cgroup/pod/memory.max", "1048576\n");
  EXPECT_TRUE(pod.read().limited);
  EXPECT_EQ(pod.read().total, (1024 + 2048) * 1024.0);
}

TEST(MemoryRoom, AVersion1GroupWithoutALimitLimitsNothing) {
  Room pod;
  pod.file("proc/self/cgroup", "4:memory:/pod\n");
  pod.file("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(pod.read().limited);
  pod.file("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "2097152\n");
  EXPECT_EQ(pod.read().total, (2048 + 2048) * 1024.0);
}

TEST(MemoryRoom, IsNotKnownWithoutTheKernelsWord) {
  const TemporaryFolder nothing;
  EXPECT_EQ(memory_room(nothing / "").total, 0);
}

}  // namespace
}  // namespace atl
