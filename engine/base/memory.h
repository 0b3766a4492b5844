// How much memory this process holds, as the kernel counts it, and how much there is for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace atl {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;   // now, memory-mapped files included
  std::int64_t anonymous_bytes = 0;  // now, without mapped files: the kernel can't drop it
  std::int64_t peak_bytes = 0;       // the largest resident_bytes so far
};

/// Read from /proc/self/status, exact to some dozens of pages; zeros where that file is missing.
ProcessMemory process_memory();

/// The memory that all processes of a machine, or of this process's control group, can hold together.
struct MemoryRoom {
  double total = 0;      // memory and swap; 0: not known
  double available = 0;  // part of it that is free now, or would be if pages of files were given up
  bool limited = false;  // by a control group (below), to less than the machine has
};

/// `root` is where /proc and /sys are looked for.
MemoryRoom memory_room(const std::filesystem::path& root = "/");

/// Tells a user why `who` ended when it was refused memory: the most it held, what there is, and what helps.
std::string out_of_memory(const std::string& who);

/// Makes large blocks (1 MiB and more) go back to the system as soon as they are freed. By default, once the
/// C library has freed such a block, it keeps up to twice its size of freed memory from then on. Call it in
/// programs that allocate once, at the start.
void return_freed_memory();

// What the process's control group may use, and which processes were killed. Inside a container nothing else
// tells them: a container shows all of the machine's cores, and a kill for lack of memory leaves no other
// trace.

/// Cores by the CPU quota of this process's cgroup or, where that is smaller, of one around it (versions 1
/// and 2); 0 where there is no quota. `root` is where /proc and /sys are looked for.
double quota_cores(const std::filesystem::path& root = "/");

/// Bytes that this process's cgroup may hold, or a cgroup around it where that is less (versions 1 and 2);
/// nothing where none is limited. A version 1 group without a limit gives a number beyond all machines.
std::optional<double> memory_limit(const std::filesystem::path& root = "/");

/// How many processes the kernel has killed because the group ran out of memory, as told by this process's
/// cgroup or the nearest around it that tells; nothing where none does (versions 1 and 2).
std::optional<long> oom_kills(const std::filesystem::path& root = "/");

}  // namespace atl
