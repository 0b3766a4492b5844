#include "base/memory.h"

#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "base/cgroup.h"
#include "base/readable.h"

namespace atl {
namespace {

/// Bytes by name, of lines such as "MemTotal:  24683520 kB".
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

}  // namespace atl
