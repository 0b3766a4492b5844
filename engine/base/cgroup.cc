#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Of one group, or 0.
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

/// The smallest quota from `group` (absolute, as /proc/self/cgroup says it) up to the hierarchy's root, which is
/// the container's own group inside a container.
double smallest_quota(const fs::path& hierarchy, fs::path group) {
  double smallest = 0;
  for (;; group = group.parent_path()) {
    const double quota = quota_of(hierarchy / group.relative_path());
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    if (!group.has_relative_path()) return smallest;
  }
}

bool lists_cpu(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');)
    if (name == "cpu") return true;
  return false;
}

}  // namespace

double quota_cores(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  fs::path unified = "/", cpu = "/";
  std::ifstream self(root / "proc/self/cgroup");
  for (std::string line; std::getline(self, line);) {  // "4:cpu,cpuacct:/pod1", "0::/pod1"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) unified = line.substr(second + 1);
    if (lists_cpu(controllers)) cpu = line.substr(second + 1);
  }
  const double v2 = smallest_quota(mount, unified), v1 = smallest_quota(mount / "cpu", cpu);
  return v1 == 0 || v2 == 0 ? std::max(v1, v2) : std::min(v1, v2);
}

}  // namespace atl
