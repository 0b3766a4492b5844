// What this process holds in memory, as the kernel counts it, and how much there is for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace atl {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;   // now, memory-mapped files included
  std::int64_t anonymous_bytes = 0;  // now, without them: what can't be dropped
  std::int64_t peak_bytes = 0;       // the largest resident_bytes so far
};

/// From /proc/self/status, exact to some dozens of pages; zeros where there is none.
ProcessMemory process_memory();

/// What all processes of a machine, or of this one's control group, can hold together.
struct MemoryRoom {
  double total = 0;      // memory and swap; 0: not known
  double available = 0;  // of it now, pages of files given up
  bool limited = false;  // by a control group (below) to less than the machine has
};

/// `root` is where /proc and /sys are looked for.
MemoryRoom memory_room(const std::filesystem::path& root = "/");

/// Why `who` ended that was refused memory, for a user: what it held at most, what there is, and what helps.
std::string out_of_memory(const std::string& who);

/// Has large blocks (1 MiB and more) go back to the system as soon as they are freed. The C library would
/// learn from the first one freed to keep up to twice its size from then on. For programs that allocate once,
/// at the start.
void return_freed_memory();

// What the process's control group may use, and what became of it: a container shows the machine's cores to
// everybody in it, and a process that is killed for memory leaves no other trace.

/// Cores by the CPU quota of this process's cgroup or, where that is smaller, of one around it (versions 1
/// and 2); 0 where there is none. `root` is where /proc and /sys are looked for.
double quota_cores(const std::filesystem::path& root = "/");

/// Bytes that this process's cgroup may hold, or, where that is smaller, one around it (versions 1 and 2);
/// nothing where none is limited. A version 1 group without a limit says a number beyond all machines.
std::optional<double> memory_limit(const std::filesystem::path& root = "/");

/// Processes of this one's cgroup (or of the nearest around it that tells) that the kernel has killed because
/// the group ran out of memory; nothing where no group tells (versions 1 and 2).
std::optional<long> oom_kills(const std::filesystem::path& root = "/");

}  // namespace atl
