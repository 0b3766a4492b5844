// What the last writes for a job have shown and no cache knows: objects of others that have the names ours
// need, objects that the API server refused, and objects that are no longer as the caches have them. The next
// decision on the job sees it, once.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

/// An object that is gone, or is no longer as the caches have it.
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
/// Marks a pod that we patch, or a job whose status we write: any later state of it that the caches see will
/// do.
inline std::string changed_mark(Kind kind, const std::string& name) {
  return std::string("changed ") + name_of(kind) + " " + name;
}

}  // namespace atl::ctl
