#include "launch/memory_kills.h"

#include <utility>

namespace atl {
namespace {
constexpr std::chrono::seconds kPatience{30};  // from a kill that is counted to its process's end
}  // namespace

MemoryKills::MemoryKills(std::function<Ranks()> ranks, std::function<std::optional<long>()> count)
    : read_ranks_(std::move(ranks)), read_count_(std::move(count)), count_(read_count_().value_or(0)) {}

/// Ranks first: a kill is counted before its process ends, so that the kill of a rank that is missing here is counted below. The other
/// way round, a kill between the two would be counted when its rank is forgotten.
std::optional<Rank> MemoryKills::killed_rank(Clock::time_point now) {
  const Ranks before = std::exchange(ranks_, read_ranks_());
  const long count = read_count_().value_or(count_);
  if (std::exchange(count_, count) != count) looked_for_until_ = now + kPatience;
  if (looked_for_until_ && now > *looked_for_until_) looked_for_until_.reset();
  if (!looked_for_until_) return {};
  for (const auto& [pid, rank] : before) {
    if (ranks_.contains(pid)) continue;
    looked_for_until_.reset();
    return rank;
  }
  return {};
}

}  // namespace atl
