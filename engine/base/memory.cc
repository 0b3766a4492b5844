#include "base/memory.h"

#include <malloc.h>

#include <fstream>
#include <limits>
#include <string>

namespace atl {

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

void return_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

}  // namespace atl
