#include "operator/kube/handoff.h"

#include <algorithm>
#include <utility>

namespace atl::kube {

void Handoff::offer(std::string_view piece, Release release) {
  {
    std::lock_guard lock(mutex_);
    if (!finished_ && !piece.empty()) {
      piece_ = piece;
      release_ = std::move(release);
      changed_.notify_all();
      return;
    }
  }
  release(piece.empty());
}

void Handoff::finish() {
  std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

std::optional<std::size_t> Handoff::take(char* into, std::size_t size, Time until) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, until, [&] { return release_ || finished_; })) return std::nullopt;
  if (failure_) failure_->raise();
  const std::size_t taken = std::min(size, piece_.size());
  std::copy_n(piece_.data(), taken, into);
  piece_.remove_prefix(taken);
  if (!piece_.empty() || !release_) return taken;
  const Release release = std::exchange(release_, nullptr);
  lock.unlock();
  release(true);
  return taken;
}

void Handoff::fail(Failure why) {
  Release release;
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    failure_ = std::move(why);
    release = std::exchange(release_, nullptr);
    piece_ = {};
    changed_.notify_all();
  }
  if (release) release(false);
}

}  // namespace atl::kube
