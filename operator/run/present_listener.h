// Caches outlast the terms that use them. Their news goes to the listener of the present term, or to nobody.
#pragma once

#include <atomic>
#include <string>

#include "operator/run/caches.h"

namespace atl::ctl {

/// News that comes while nobody listens isn't lost: the next listener finds it in the caches. Thread-safe.
class PresentListener final : public CacheListener {
 public:
  /// Sends news to `listener` from now on, or to nobody if it is null. Once this returns, the former listener
  /// isn't called any more, and no call of it is under way. So a listener must not call this from within a
  /// call.
  void become(CacheListener* listener) {
    listener_ = listener;
    for (int calls = calls_; calls != 0; calls = calls_) calls_.wait(calls);
  }

  void job_changed(const std::string& job, const std::string& mark) override {
    const Call call(calls_);
    if (CacheListener* listener = listener_) listener->job_changed(job, mark);
  }
  void job_gone(const std::string& job) override {
    const Call call(calls_);
    if (CacheListener* listener = listener_) listener->job_gone(job);
  }
  void room_changed() override {
    const Call call(calls_);
    if (CacheListener* listener = listener_) listener->room_changed();
  }

 private:
  /// Counts a call that is under way. A lock can't be used, because calls nest: news that a job is gone frees
  /// room, which is news too.
  class Call {
   public:
    explicit Call(std::atomic<int>& calls) : calls_(calls) { ++calls_; }
    ~Call() {
      --calls_;
      calls_.notify_all();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::atomic<int>& calls_;
  };

  std::atomic<CacheListener*> listener_ = nullptr;
  std::atomic<int> calls_ = 0;
};

}  // namespace atl::ctl
