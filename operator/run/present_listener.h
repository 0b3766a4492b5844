// Caches outlast whoever decides by them: their news goes to the listener of the time, or to nobody.
#pragma once

#include <atomic>
#include <string>

#include "operator/run/caches.h"

namespace atl::ctl {

/// What comes while nobody listens, the next listener finds in the caches. Any thread may call any of it.
class PresentListener final : public CacheListener {
 public:
  /// News goes to `listener` from now on; null: to nobody. Once this returns, the one before is called no
  /// more and isn't within a call, so it must not call this from one.
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
  /// Counts a call that is under way. No lock instead: news of a job that is gone gives room, which is news
  /// within news.
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
