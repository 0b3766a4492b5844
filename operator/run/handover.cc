#include "operator/run/handover.h"

namespace atl::ctl {
namespace {

/// The bytes of an errand's writes: the objects, and the status, whose list of servers is its largest part.
std::size_t bytes_of(const Errand& errand) {
  if (!errand.writes) return 0;
  const Decision& decision = errand.writes->decision;
  std::size_t bytes = 0;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage) bytes += sizeof(Write) + write.body.size();
  return bytes + (decision.status ? decision.status->servers.size() * sizeof(ServerPlace) : 0);
}

}  // namespace

std::map<std::string, Errand>::node_type Handover::extract(const std::string& job) {
  auto found = waiting_.extract(job);
  if (!found.empty()) bytes_ -= bytes_of(found.mapped());
  return found;
}

bool Handover::begin_look(const std::string& job) {
  std::lock_guard lock(mutex_);
  const auto waiting = waiting_.find(job);
  const bool has_to_run =
      waiting != waiting_.end() && (waiting->second.rests_on_feedback || missed_turn_.contains(job));
  if (has_to_run || under_way_.contains(job)) {
    have_news_.insert(job);
    return false;
  }
  looked_at_[job] = waiting == waiting_.end() ? NewsAge::Time::now() : waiting->second.age.queued();
  extract(job);
  return true;
}

void Handover::end_look(const std::string& job, std::optional<Errand> errand) {
  std::unique_lock lock(mutex_);
  const auto looked_at = looked_at_.extract(job);
  if (!errand) {
    missed_turn_.erase(job);
    return;
  }
  errand->age.join(looked_at.mapped());
  const bool is_too_much = bytes_ + bytes_of(*errand) > kMostBytes;
  if (is_too_much && !errand->rests_on_feedback) errand->writes.reset();
  bytes_ += bytes_of(*errand);
  waiting_.insert_or_assign(job, std::move(*errand));  // begin_look() has taken out the former one
  lock.unlock();
  line_.add(job);  // a job that is in line already keeps its turn
}

std::optional<Handover::Taken> Handover::begin(const std::string& job) {
  {
    std::lock_guard lock(mutex_);
    auto found = extract(job);
    if (found.empty() && looked_at_.contains(job)) missed_turn_.insert(job);
    if (!found.empty()) {
      missed_turn_.erase(job);
      under_way_.insert(job);
      return Taken(job, std::move(found.mapped()));
    }
  }
  line_.done(job);  // end_look() adds the job again if it is being looked at
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

bool Handover::has_errand(const std::string& job) const {
  std::lock_guard lock(mutex_);
  return waiting_.contains(job);
}

void Handover::forget(const std::string& job) {
  line_.drop(job);
  std::lock_guard lock(mutex_);
  extract(job);
  missed_turn_.erase(job);
  // If an errand is under way, the news may be about a new job of the same name. It is kept for the end of
  // the errand, which brings that job back.
  if (!under_way_.contains(job)) have_news_.erase(job);
}

std::size_t Handover::size() const {
  std::lock_guard lock(mutex_);
  return line_.size() + waiting_.size() + looked_at_.size() + under_way_.size() + have_news_.size() +
         missed_turn_.size();
}

}  // namespace atl::ctl
