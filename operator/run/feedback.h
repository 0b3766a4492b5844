// What a job's last writes found out that no cache shows: foreign objects with our names, objects that the
// API server refused, and objects that differ from the caches. The job's next decision gets this once.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

/// An object that is gone, or differs from the caches.
struct Outdated {
  Kind kind = Kind::kPod;
  std::string name;
};

struct WriteFeedback {
  std::vector<PodView> pods;        // others' pods
  std::vector<ObjectView> objects;  // others' objects
  std::string taken_keys;           // name of a Secret that isn't ours
  std::vector<Refusal> refusals;    // objects that couldn't be made or changed
  std::vector<Refusal> undeleted;   // objects that couldn't be deleted
  std::vector<Outdated> outdated;

  bool has_foreign() const { return !pods.empty() || !objects.empty(); }
  bool is_empty() const {
    return !has_foreign() && taken_keys.empty() && refusals.empty() && undeleted.empty() && outdated.empty();
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
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return jobs_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, WriteFeedback> jobs_;
};

inline std::string made_mark(Kind kind, const std::string& name) {
  return std::string("made ") + name_of(kind) + " " + name;
}
inline std::string gone_mark(const std::string& uid) {
  return "gone " + uid;
}
/// The mark of a pod that we patch, or of a job whose status we write. Any later state of the object in the
/// caches satisfies it.
inline std::string changed_mark(Kind kind, const std::string& name) {
  return std::string("changed ") + name_of(kind) + " " + name;
}

}  // namespace atl::ctl
