// Amounts that nodes have and pods request, counted as the scheduler counts them. Cores are in thousandths.
// Everything else (memory in bytes, pods, nvidia.com/gpu, any extended resource) is in whole units. Each
// amount is rounded up. Sums and products stop at ±(2⁶³ − 1).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace atl::ctl {

/// The default name of a GPU among kubelets' resources.
inline constexpr char kGpuResource[] = "nvidia.com/gpu";
/// The prefix of MIG's slices of GPUs in NVIDIA's device plugin, as in nvidia.com/mig-3g.40gb.
inline constexpr char kMigSlices[] = "nvidia.com/mig-";

class Resources {
 public:
  using Map = std::map<std::string, std::int64_t, std::less<>>;

  Resources() = default;
  explicit Resources(Map amounts) : amounts_(std::move(amounts)) {}

  /// Adds a Kubernetes quantity ("500m", "16Gi"). Throws Error, which names resource and text, if the text
  /// isn't one.
  void add(const std::string& resource, const std::string& quantity);
  void add(const std::string& resource, double amount);

  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);  // may fall below zero: an overcommitted node
  Resources operator*(std::int64_t times) const;
  /// Raises each resource to the larger of the two amounts.
  Resources& at_least(const Resources& other);
  /// Replaces amounts that `other` states.
  Resources& replaced_by(const Resources& other);

  /// Whether no amount has reached the limit, so that what was added can be subtracted again.
  bool is_exact() const;
  std::int64_t of(std::string_view resource) const;  // 0 where it isn't stated
  const Map& amounts() const { return amounts_; }
  bool operator==(const Resources&) const = default;

  /// How often `demand` fits. An empty demand fits any number of times (INT_MAX).
  int times(const Resources& demand) const;
  /// "8 cpu, 32 GiB memory, 1 nvidia.com/gpu"; pods are left out.
  std::string text() const;

 private:
  Map amounts_;
};

}  // namespace atl::ctl
