#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

void WaitingGangs::put(const Gang& gang) {
  std::lock_guard lock(mutex_);
  gangs_[gang.job] = gang;
}

bool WaitingGangs::remove(const std::string& job) {
  std::lock_guard lock(mutex_);
  gangs_.erase(job);
  const bool was_favoured = favoured_ == job;
  if (was_favoured) favoured_.clear();
  return was_favoured;
}

std::map<Precedence, const Gang*> WaitingGangs::impatient() const {
  std::map<Precedence, const Gang*> all;
  const Moment now = now_();
  for (const auto& [name, gang] : gangs_) {
    const auto job = caches_.job(name);
    const auto since = job ? waits_for_places_since(job->status) : std::nullopt;
    if (since && now - *since >= patience_) all[precedence_of(*job, caches_)] = &gang;
  }
  return all;
}

std::optional<Reservation> WaitingGangs::reservation(const Snapshot& snapshot) {
  std::lock_guard lock(mutex_);
  favoured_.clear();
  for (const auto& [precedence, gang] : impatient()) {
    auto reservation = reserve(*gang, snapshot);
    if (!reservation) continue;
    favoured_ = gang->job;
    return reservation;
  }
  return {};
}

bool WaitingGangs::comes_before(const std::string& job, const std::string& other) const {
  const auto a = caches_.job(job), b = caches_.job(other);
  return a && b && precedence_of(*a, caches_) < precedence_of(*b, caches_);
}

}  // namespace atl::ctl
