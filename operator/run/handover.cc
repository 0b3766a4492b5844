#include "operator/run/handover.h"

namespace atl::ctl {

bool Handover::begin_look(const std::string& job) {
  std::lock_guard lock(mutex_);
  const auto waiting = waiting_.find(job);
  const bool has_to_run = waiting != waiting_.end() && waiting->second.rests_on_feedback;
  if (has_to_run || under_way_.contains(job)) {
    have_news_.insert(job);
    return false;
  }
  looked_at_[job] = waiting == waiting_.end() ? NewsAge::Time::now() : waiting->second.age.queued();
  waiting_.erase(job);
  return true;
}

void Handover::end_look(const std::string& job, std::optional<Errand> errand) {
  std::unique_lock lock(mutex_);
  const auto looked_at = looked_at_.extract(job);
  if (!errand) return;
  errand->age.join(looked_at.mapped());
  waiting_.insert_or_assign(job, std::move(*errand));
  lock.unlock();
  line_.add(job);  // where it stands there already, it keeps its turn
}

std::optional<Handover::Taken> Handover::begin(const std::string& job) {
  {
    std::lock_guard lock(mutex_);
    auto found = waiting_.extract(job);
    if (!found.empty()) {
      under_way_.insert(job);
      return Taken(job, std::move(found.mapped()));
    }
  }
  line_.done(job);  // if it is looked at just now, that look's end adds it again
  return {};
}

std::optional<Handover::Taken> Handover::take(const std::stop_token& stop) {
  while (const auto job = line_.take(stop))
    if (auto taken = begin(*job)) return taken;
  return {};
}

std::optional<Handover::Taken> Handover::take_now() {
  while (const auto job = line_.take_now())
    if (auto taken = begin(*job)) return taken;
  return {};
}

bool Handover::end(const std::string& job) {
  line_.done(job);
  std::lock_guard lock(mutex_);
  under_way_.erase(job);
  return have_news_.erase(job) > 0;
}

bool Handover::is_decided(const std::string& job) const {
  std::lock_guard lock(mutex_);
  const auto found = waiting_.find(job);
  return found != waiting_.end() && found->second.writes;
}

void Handover::forget(const std::string& job) {
  line_.drop(job);
  std::lock_guard lock(mutex_);
  waiting_.erase(job);
  have_news_.erase(job);
}

std::size_t Handover::size() const {
  std::lock_guard lock(mutex_);
  return line_.size() + waiting_.size() + looked_at_.size() + under_way_.size() + have_news_.size();
}

}  // namespace atl::ctl
