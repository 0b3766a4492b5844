// How many cores the process's control group may use: a container shows the machine's cores to everybody in it.
#pragma once

#include <filesystem>

namespace atl {

/// Cores by the CPU quota of this process's cgroup or, where that is smaller, of one around it (versions 1 and 2);
/// 0 where there is none. `root` is where /proc and /sys are looked for.
double quota_cores(const std::filesystem::path& root = "/");

}  // namespace atl
