#include "operator/run/job_waits.h"

#include <algorithm>
#include <functional>

#include "operator/kube/clock.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

constexpr int kMostInARow = 3;
constexpr Milliseconds kFirstWait{1000}, kLongestWait{300'000};
constexpr Milliseconds kInARow = 2 * kLongestWait;  // a repeat after more time isn't in a row

/// A digest of all that would be written.
std::size_t digest_of(const Decision& decision) {
  std::string all = decision.status ? write_status(*decision.status) : "";
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      all +=
          '\n' + std::to_string(int(write.verb)) + name_of(write.kind) + write.name + write.uid + write.body;
  return std::hash<std::string>()(all);
}

}  // namespace

/// When a repeat may be carried out. The time is past if the decision hasn't been repeated too often.
kube::Clock::Time Repeats::end_of_wait(const Last& last) {
  if (last.times < kMostInARow) return last.at;
  return last.at + kube::doubled(kFirstWait, last.times - kMostInARow, kLongestWait);
}

Milliseconds Repeats::wait(const std::string& job, const Decision& decision) const {
  const auto now = clock_.now();
  Last last;
  {
    std::lock_guard lock(mutex_);
    const auto found = last_.find(job);
    if (found == last_.end()) return Milliseconds(0);
    last = found->second;
  }
  const auto end = end_of_wait(last);
  if (now >= end || digest_of(decision) != last.digest) return Milliseconds(0);
  return std::chrono::ceil<Milliseconds>(end - now);
}

bool Repeats::holds_back(const std::string& job) const {
  std::lock_guard lock(mutex_);
  const auto found = last_.find(job);
  return found != last_.end() && clock_.now() < end_of_wait(found->second);
}

void Repeats::done(const std::string& job, const Decision& decision) {
  const std::size_t digest = digest_of(decision);
  const auto now = clock_.now();
  std::lock_guard lock(mutex_);
  Last& last = last_[job];
  const bool is_again = last.times > 0 && last.digest == digest && now - last.at < kInARow;
  last = {digest, is_again ? last.times + 1 : 1, now};
}

void Repeats::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  last_.erase(job);
}

std::size_t Repeats::size() const {
  std::lock_guard lock(mutex_);
  return last_.size();
}

}  // namespace atl::ctl
