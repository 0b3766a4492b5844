#include "base/memory.h"

#include <fmt/core.h>
#include <malloc.h>
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "base/text.h"

namespace atl {
namespace {

/// Bytes by name, from lines such as "MemTotal:  24683520 kB".
std::map<std::string, double> read_meminfo(const std::filesystem::path& file) {
  std::map<std::string, double> bytes;
  std::ifstream lines(file);
  double kibibytes = 0;
  for (std::string key; lines >> key >> kibibytes;) {
    bytes[key] = kibibytes * 1024;
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return bytes;
}

}  // namespace

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  std::string key;
  std::int64_t kibibytes = 0;
  while (status >> key) {
    if (key == "VmHWM:" && status >> kibibytes) memory.peak_bytes = kibibytes * 1024;
    if (key == "VmRSS:" && status >> kibibytes) memory.resident_bytes = kibibytes * 1024;
    if (key == "RssAnon:" && status >> kibibytes) memory.anonymous_bytes = kibibytes * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return memory;
}

MemoryRoom memory_room(const std::filesystem::path& root) {
  auto machine = read_meminfo(root / "proc/meminfo");
  const double memory = machine["MemTotal:"], limit = memory_limit(root).value_or(memory);
  MemoryRoom room;
  if (memory == 0) return room;
  room.limited = limit < memory;
  room.total = std::min(memory, limit) + machine["SwapTotal:"];
  room.available = std::min(room.total, machine["MemAvailable:"] + machine["SwapFree:"]);
  return room;
}

std::string out_of_memory(const std::string& who) {
  const MemoryRoom room = memory_room();
  return fmt::format(
      "out of memory: {} held {} at most and was refused more; {} has {}, {} of them free: free memory, raise the limit "
      "(`ulimit -v`, a container's), or use a larger machine",
      who, bytes_text(double(process_memory().peak_bytes)),
      room.limited ? "the control group" : "this machine", bytes_text(room.total),
      bytes_text(room.available));
}

void return_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

namespace {

namespace fs = std::filesystem;

/// The CPU quota of one group in cores, or 0.
double quota_of(const fs::path& group) {
  if (std::ifstream v2(group / "cpu.max"); v2) {
    std::string quota;
    double period = 0;
    if (v2 >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  }
  std::ifstream v1_quota(group / "cpu.cfs_quota_us"), v1_period(group / "cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (v1_quota >> quota && v1_period >> period && quota > 0 && period > 0) return quota / period;
  return 0;
}

/// The memory limit of one group in bytes, or 0.
double memory_of(const fs::path& group) {
  for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {  // versions 2 and 1
    double bytes = 0;
    if (std::ifstream(group / file) >> bytes) return bytes;  // fails on "max"
  }
  return 0;
}

double smaller(double a, double b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

/// The smallest limit from `group` (an absolute path as in /proc/self/cgroup) up to the hierarchy's root.
/// Inside a container the root is the container's own group.
double smallest(const fs::path& hierarchy, fs::path group, double (*limit_of)(const fs::path&)) {
  double limit = 0;
  for (;; group = group.parent_path()) {
    limit = smaller(limit, limit_of(hierarchy / group.relative_path()));
    if (!group.has_relative_path()) return limit;
  }
}

bool lists(const std::string& controllers, const std::string& wanted) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');)
    if (name == wanted) return true;
  return controllers.empty() && wanted.empty();
}

/// This process's group in a controller's hierarchy, as an absolute path. The controller "" stands for
/// version 2's unified hierarchy.
fs::path group_of(const fs::path& root, const std::string& controller) {
  std::ifstream self(root / "proc/self/cgroup");
  for (std::string line; std::getline(self, line);) {  // "4:cpu,cpuacct:/pod1", "0::/pod1"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (lists(line.substr(first + 1, second - first - 1), controller)) return line.substr(second + 1);
  }
  return "/";
}

/// The number behind "oom_kill" in `file`, read from the group or from the nearest one around it that has the
/// file.
std::optional<long> kills_in(const fs::path& hierarchy, fs::path group, const char* file) {
  for (;; group = group.parent_path()) {
    std::ifstream lines(hierarchy / group.relative_path() / file);
    long value = 0;
    for (std::string key; lines >> key >> value;)
      if (key == "oom_kill") return value;
    if (!group.has_relative_path()) return {};
  }
}

}  // namespace

std::optional<long> oom_kills(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  const auto v2 = kills_in(mount, group_of(root, ""), "memory.events");
  return v2 ? v2 : kills_in(mount / "memory", group_of(root, "memory"), "memory.oom_control");
}

double quota_cores(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  return smaller(smallest(mount, group_of(root, ""), quota_of),
                 smallest(mount / "cpu", group_of(root, "cpu"), quota_of));
}

std::optional<double> memory_limit(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  const double limit = smaller(smallest(mount, group_of(root, ""), memory_of),
                               smallest(mount / "memory", group_of(root, "memory"), memory_of));
  return limit > 0 ? std::optional(limit) : std::nullopt;
}

}  // namespace atl
