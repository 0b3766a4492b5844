// One look at a job: what was observed, the new status as it takes shape, and what is to be done. Each step
// of decide.cc reads it and adds to it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "operator/controller/decide.h"
#include "operator/controller/gang_view.h"

namespace atl::ctl {

/// The reason of Running while ranks run but none of their servers answers the operator.
inline constexpr const char* kUnheard = "Unheard";

class Reconcile {
 public:
  /// Both arguments must outlive this object.
  Reconcile(const Observed& seen, const Settings& settings);

  const Observed& seen;
  const Settings& settings;
  Status status;

  /// The job as observed, except for the image and the name of its keys, which a step may choose.
  const GnnJob& job() const { return job_; }
  const Job& spec() const { return *seen.job.job; }
  const std::string& name() const { return seen.job.meta.name; }
  Moment now() const { return seen.now; }
  /// The attempt under whose number the ranks run, or are started next.
  int attempt() const { return std::max(status.attempt, 1); }
  /// Precondition: the engine accepts the job's manifest.
  const GangView& gang() const { return *gang_; }

  /// Enters a condition. If its truth or its reason is new, and worth telling, an event says so. Each reason
  /// gets one event, in the first words used, because one cause often changes several conditions.
  void say(const char* condition, bool holds, const std::string& reason, const std::string& message);
  /// The condition in the new status; null where the job doesn't have it yet.
  const Condition* condition(const char* type) const { return find_condition(status.conditions, type); }
  /// Sends an event without a condition, once for each reason. A job that has ended needs it, because its
  /// conditions no longer change.
  void tell(bool is_warning, const std::string& reason, const std::string& message);
  bool holds(const char* condition) const;
  /// Why the condition doesn't hold; "" where it holds, or isn't known yet.
  std::string reason_against(const char* condition) const;
  Moment since(const char* condition) const;

  void create(Kind kind, const std::string& name, std::string object);
  void patch(const PodView& pod, std::string patch);
  void patch(Kind kind, const std::string& name, std::string patch);
  /// Deletes the object. A second call for the same object changes nothing.
  void remove(Kind kind, const Meta& meta, std::optional<int> grace = {});
  /// Later writes wait for the earlier ones.
  void next_stage();
  void requeue_at(Moment when);
  /// Returns whether that time has come. If it hasn't, the job is looked at again at that time.
  bool await(Moment when);
  /// Ends the attempt. The next start gets the next number if anything may have started under this one. The
  /// number grows at most once per look.
  void end_attempt();
  void ask_for_prepare_log() { decision_.wants.prepare_log = true; }
  void ask_for_fault_of(const std::string& pod) { decision_.wants.pod_fault = pod; }
  void ask_for_secret(const std::string& name) { decision_.wants.secret = name; }
  void ask_for_queue(const std::string& name) { decision_.wants.queue = name; }

  /// From now on the job's pods run this image.
  void use_image(const std::string& image);
  /// From now on the job's pods mount this Secret.
  void use_keys(const std::string& secret);

  const ObjectView* find(Kind kind, const std::string& name) const;
  /// What the prepare step found; null while that isn't known.
  const Prepared* findings() const { return findings_.get(); }
  /// The job's own pods of that role.
  std::vector<const PodView*> own_pods(const char* role) const;

  bool has_writes() const { return !decision_.stages.empty(); }
  bool has_deletions() const;
  Decision decision();

 private:
  void write(Write write);
  bool is_end_of_trouble(const char* condition) const;
  std::shared_ptr<const Prepared> look_up_findings();

  GnnJob job_;
  std::optional<GangView> gang_;
  std::shared_ptr<const Prepared> findings_;
  Decision decision_;
  bool is_new_stage_ = true;
};

// How long a job waits before it tries again. The wait is different for each job and each try, so that two
// jobs which got in each other's way don't collide again. It doesn't depend on when it is computed, so a
// restarted operator waits as long as its predecessor would have.

/// 0 … `most` whole seconds, drawn from the job and a moment.
inline Seconds jitter(const Reconcile& reconcile, Moment moment, Seconds most) {
  const std::string digits = sha256_hex(reconcile.job().meta.uid + text_of(moment)).substr(0, 8);
  return Seconds(std::stoll(digits, nullptr, 16) % (most.count() + 1));
}

}  // namespace atl::ctl
