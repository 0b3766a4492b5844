// How far the ranks are: rank 0's pod is asked over HTTP every few seconds, and where ranks wait for another one, so are the
// pods that the waits lead to (stalled.h). What they say comes from containers and is not trusted: it may be slow, large or
// nonsense, and can cost us no more than a few connections and a write of the status each time.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/run/caches.h"
#include "operator/run/rank_pages.h"

namespace atl::ctl {

/// By HTTP: at most 64 KiB, within 2 s.
std::optional<std::string> ask_for_progress(const std::string& address);

/// Nothing where the text isn't what a rank's /progress says.
std::optional<Progress> read_progress(const std::string& text);

/// All of it may be called from any thread.
class ProgressPoller {
 public:
  struct Handlers {
    Ask ask = ask_for_progress;
    std::function<void(const std::string& job)> on_news;
  };
  ProgressPoller(const Caches& caches, int port, Handlers handlers)
      : caches_(caches), port_(port), handlers_(std::move(handlers)) {}

  /// Asks for every job that runs.
  void poll(Moment now);
  /// What was heard in the present attempt.
  std::optional<Heard> heard(const std::string& job) const;
  /// The rank that others wait for in the present attempt and whose server doesn't answer.
  std::optional<Rank> silent_rank(const std::string& job) const;
  void forget(const std::string& job);

 private:
  struct Silence {
    int attempt = 0;
    Rank rank = 0;
    bool operator==(const Silence&) const = default;
  };
  struct Entry {
    std::string pod_uid;  // whose word it is
    int attempt = 0;
    Heard heard;
  };
  void poll_job(const GnnJob& job, Moment now);
  bool was_heard(const std::string& job, const std::string& pod_uid, int attempt) const;
  void take(const std::string& job, const std::string& pod_uid, int attempt, const Progress& progress,
            Moment now);
  void take_stalled(const std::string& job, std::optional<Rank> rank);
  void take_silent(const GnnJob& job, std::optional<Rank> rank);

  const Caches& caches_;
  const int port_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;   // by job
  std::map<std::string, Silence> silent_;  // likewise
};

}  // namespace atl::ctl
