// What the process's control group may use, and what became of it: a container shows the machine's cores to everybody in
// it, and a process that is killed for memory leaves no other trace.
#pragma once

#include <filesystem>
#include <optional>

namespace atl {

/// Cores by the CPU quota of this process's cgroup or, where that is smaller, of one around it (versions 1 and 2);
/// 0 where there is none. `root` is where /proc and /sys are looked for.
double quota_cores(const std::filesystem::path& root = "/");

/// Bytes that this process's cgroup may hold, or, where that is smaller, one around it (versions 1 and 2); nothing where none is
/// limited. A version 1 group without a limit says a number beyond all machines.
std::optional<double> memory_limit(const std::filesystem::path& root = "/");

/// Processes of this one's cgroup (or of the nearest around it that tells) that the kernel has killed because the group ran
/// out of memory; nothing where no group tells (versions 1 and 2).
std::optional<long> oom_kills(const std::filesystem::path& root = "/");

}  // namespace atl
