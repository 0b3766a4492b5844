#include "base/memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.h"

namespace atl {
namespace {

/// A tree of files in place of /proc and /sys.
class Machine {
 public:
  Machine& file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
    return *this;
  }
  double cores() const { return quota_cores(folder_ / ""); }
  std::optional<long> kills() const { return oom_kills(folder_ / ""); }

 private:
  TemporaryFolder folder_;
};

TEST(QuotaCores, OfVersion2IsQuotaOverPeriod) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/pod/rank\n")
      .file("sys/fs/cgroup/pod/rank/cpu.max", "150000 100000\n");
  EXPECT_EQ(machine.cores(), 1.5);
}

TEST(QuotaCores, AGroupAroundMayBeSmaller) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/pod/rank\n")
      .file("sys/fs/cgroup/pod/rank/cpu.max", "max 100000\n")
      .file("sys/fs/cgroup/pod/cpu.max", "300000 100000\n")
      .file("sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(machine.cores(), 3);
}

TEST(QuotaCores, OfVersion1) {
  Machine machine;
  machine.file("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/pod\n")
      .file("sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us", "5000\n")
      .file("sys/fs/cgroup/cpu/pod/cpu.cfs_period_us", "10000\n")
      .file("sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "100\n")
      .file("sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(machine.cores(), 0.5);
}

TEST(QuotaCores, InAContainerTheRootOfTheMountIsItsOwnGroup) {
  Machine machine;
  machine.file("proc/self/cgroup", "4:cpu:/kubepods/pod7\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.cores(), 4);
}

TEST(QuotaCores, NoneIsZero) {
  Machine machine;
  EXPECT_EQ(machine.cores(), 0);
  machine.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(machine.cores(), 0);
  machine.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.cores(), 0);
}

TEST(OomKills, OfVersion2AreAmongTheMemoryEvents) {
  Machine machine;
  machine.file("proc/self/cgroup", "0::/pod\n")
      .file("sys/fs/cgroup/pod/memory.events", "low 0\nhigh 7\nmax 3\noom 2\noom_kill 1\n")
      .file("sys/fs/cgroup/memory.events", "oom_kill 9\n");
  EXPECT_EQ(machine.kills(), 1);
}

TEST(OomKills, OfVersion1InsideAContainerAreInTheGroupThatItSees) {
  Machine machine;
  machine.file("proc/self/cgroup", "8:memory:/kubepods/pod7/c1\n0::/\n")
      .file("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(machine.kills(), 4);
}

TEST(OomKills, AreNotKnownWithoutAGroup) {
  EXPECT_EQ(Machine().kills(), std::nullopt);
}

}  // namespace
}  // namespace atl
