// What this process holds in memory, as the kernel counts it.
#pragma once

#include <cstdint>

namespace atl {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;   // now, memory-mapped files included
  std::int64_t anonymous_bytes = 0;  // now, without them: what can't be dropped
  std::int64_t peak_bytes = 0;       // the largest resident_bytes so far
};

/// From /proc/self/status, exact to some dozens of pages; zeros where there is none.
ProcessMemory process_memory();

/// Has large blocks (1 MiB and more) go back to the system as soon as they are freed. The C library would learn from
/// the first one freed to keep up to twice its size from then on. For programs that allocate once, at the start.
void return_freed_memory();

}  // namespace atl
