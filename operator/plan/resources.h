// Amounts of what nodes have and pods ask for, counted as the scheduler counts: cores in thousandths,
// everything else (memory in bytes, pods, nvidia.com/gpu, any extended resource) in whole units, each rounded
// up. Sums and products that are beyond ±(2⁶³ − 1) stay there.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace atl::ctl {

/// What kubelets call a GPU where nobody says otherwise.
inline constexpr char kGpuResource[] = "nvidia.com/gpu";
/// How NVIDIA's device plugin names MIG's slices of GPUs: nvidia.com/mig-3g.40gb.
inline constexpr char kMigSlices[] = "nvidia.com/mig-";

class Resources {
 public:
  using Map = std::map<std::string, std::int64_t, std::less<>>;

  Resources() = default;
  explicit Resources(Map amounts) : amounts_(std::move(amounts)) {}

  /// Adds a Kubernetes quantity ("500m", "16Gi"). Throws Error, naming both, for what is none.
  void add(const std::string& resource, const std::string& quantity);
  void add(const std::string& resource, double amount);

  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);  // may fall below zero: an overcommitted node
  Resources operator*(std::int64_t times) const;
  /// The larger amount of each resource.
  Resources& at_least(const Resources& other);
  /// Amounts that `other` states, in place of ours.
  Resources& replaced_by(const Resources& other);

  /// No amount stays at the bound: what was added can be taken away again.
  bool is_exact() const;
  std::int64_t of(std::string_view resource) const;  // 0 where it isn't stated
  const Map& amounts() const { return amounts_; }
  bool operator==(const Resources&) const = default;

  /// How often `demand` fits. Demands of nothing fit any number of times (INT_MAX).
  int times(const Resources& demand) const;
  /// "8 cpu, 32 GiB memory, 1 nvidia.com/gpu"; pods are left out.
  std::string text() const;

 private:
  Map amounts_;
};

}  // namespace atl::ctl
