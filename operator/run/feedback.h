// What the last writes for a job have shown that no cache does: objects of others that stand in the way by
// their names, objects that the API server refused, and those that have changed since the caches heard of
// them. The next look at the job sees it, once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

/// An object that isn't, or is no more, as the caches have it.
struct Outdated {
  Kind kind = Kind::kPod;
  std::string name;
};

struct WriteFeedback {
  std::vector<PodView> pods;        // of others
  std::vector<ObjectView> objects;  // likewise
  std::string taken_keys;           // a Secret's name: one that isn't ours has it
  std::vector<Refusal> refusals;
  std::vector<Outdated> outdated;

  bool has_foreign() const { return !pods.empty() || !objects.empty(); }
  bool is_empty() const {
    return !has_foreign() && taken_keys.empty() && refusals.empty() && outdated.empty();
  }
};

/// Thread-safe.
class WriteFeedbacks {
 public:
  void put(const std::string& job, WriteFeedback feedback) {
    std::lock_guard lock(mutex_);
    jobs_[job] = std::move(feedback);
  }
  WriteFeedback take(const std::string& job) {
    std::lock_guard lock(mutex_);
    const auto found = jobs_.extract(job);
    return found.empty() ? WriteFeedback{} : std::move(found.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::string, WriteFeedback> jobs_;
};

inline std::string made_mark(Kind kind, const std::string& name) {
  return std::string("made ") + name_of(kind) + " " + name;
}
inline std::string gone_mark(const std::string& uid) {
  return "gone " + uid;
}
/// Of a pod that is patched, or of a job whose status is written: any later state of it.
inline std::string changed_mark(Kind kind, const std::string& name) {
  return std::string("changed ") + name_of(kind) + " " + name;
}

}  // namespace atl::ctl
