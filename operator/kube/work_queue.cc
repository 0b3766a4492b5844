#include "operator/kube/work_queue.h"

#include <algorithm>

#include "operator/kube/clock.h"

namespace atl::kube {

void WorkQueue::add(const std::string& key) {
  std::lock_guard lock(mutex_);
  add_locked(key);
}

void WorkQueue::add_locked(const std::string& key) {
  if (!dirty_.insert(key).second || taken_.contains(key)) return;
  make_ready(key);
}

void WorkQueue::make_ready(const std::string& key) {
  (is_urgent_(key) ? urgent_ : others_).push_back(key);
  changed_.notify_one();
}

void WorkQueue::add_after(const std::string& key, Milliseconds wait) {
  std::lock_guard lock(mutex_);
  const auto when = clock_.now() + std::min(wait, kLongestRest);
  const auto known = due_.find(key);
  if (known != due_.end()) {
    if (known->second <= when) return;
    take_off(known);
  }
  due_[key] = when;
  later_.emplace(when, key);
  // All threads are woken. One alone might take the key that is due first, and leave later keys to threads
  // that wait without a time-out.
  changed_.notify_all();
}

/// Removes the key from both `later_` and `due_`.
void WorkQueue::take_off(std::unordered_map<std::string, Clock::Time>::iterator due) {
  const auto [first, last] = later_.equal_range(due->second);
  later_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == due->first; }));
  due_.erase(due);
}

void WorkQueue::add_failed(const std::string& key) {
  std::unique_lock lock(mutex_);
  const int before = failures_[key]++;
  lock.unlock();
  add_after(key, doubled(first_wait_, before, longest_wait_));
}

bool WorkQueue::is_put_off(const std::string& key) const {
  std::lock_guard lock(mutex_);
  return failures_.contains(key) && due_.contains(key);
}

void WorkQueue::forget(const std::string& key) {
  std::lock_guard lock(mutex_);
  failures_.erase(key);
}

void WorkQueue::drop(const std::string& key) {
  std::lock_guard lock(mutex_);
  failures_.erase(key);
  if (const auto due = due_.find(key); due != due_.end()) take_off(due);
}

void WorkQueue::add_due() {
  const auto now = clock_.now();
  while (!later_.empty() && later_.begin()->first <= now) {
    const std::string key = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    due_.erase(key);
    add_locked(key);
  }
}

std::optional<std::string> WorkQueue::take_locked() {
  add_due();
  if (!is_any_ready()) return std::nullopt;
  const bool is_urgent = !urgent_.empty() && (others_.empty() || in_a_row_ < kMostInARow);
  in_a_row_ = is_urgent && !others_.empty() ? in_a_row_ + 1 : 0;
  auto& ready = is_urgent ? urgent_ : others_;
  std::string key = std::move(ready.front());
  ready.pop_front();
  dirty_.erase(key);
  taken_.insert(key);
  return key;
}

std::optional<std::string> WorkQueue::take_now() {
  std::lock_guard lock(mutex_);
  return take_locked();
}

std::optional<std::string> WorkQueue::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (auto key = take_locked()) return key;
    const auto is_ready = [this] { return is_any_ready(); };
    if (later_.empty()) {
      changed_.wait(lock, stop, [&] { return is_ready() || !later_.empty(); });
    } else {
      const auto first = later_.begin()->first;
      changed_.wait_for(lock, stop, first - clock_.now(),
                        [&] { return is_ready() || later_.empty() || later_.begin()->first < first; });
    }
  }
  return std::nullopt;
}

void WorkQueue::done(const std::string& key) {
  std::lock_guard lock(mutex_);
  taken_.erase(key);
  if (dirty_.contains(key)) make_ready(key);
}

std::size_t WorkQueue::depth() const {
  std::lock_guard lock(mutex_);
  return urgent_.size() + others_.size();
}

std::size_t WorkQueue::size() const {
  std::lock_guard lock(mutex_);
  return dirty_.size() + taken_.size() + due_.size() + failures_.size();
}

void Expectations::expect(const std::string& owner, const std::string& name) {
  std::lock_guard lock(mutex_);
  Outstanding& outstanding = owners_[owner];
  outstanding.names.insert(name);
  outstanding.since = clock_.now();
}

void Expectations::seen(const std::string& owner, const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  found->second.names.erase(name);
  if (found->second.names.empty()) owners_.erase(found);
}

bool Expectations::are_met(const std::string& owner) {
  std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return true;
  if (clock_.now() - found->second.since < patience_) return false;
  owners_.erase(found);
  return true;
}

void Expectations::forget(const std::string& owner) {
  std::lock_guard lock(mutex_);
  owners_.erase(owner);
}

std::size_t Expectations::size() const {
  std::lock_guard lock(mutex_);
  return owners_.size();
}

}  // namespace atl::kube
