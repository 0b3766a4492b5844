// One job as the caches show it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/run/caches.h"
#include "operator/run/feedback.h"

namespace atl::ctl {

// Reads objects from the API server that a write has shown to be newer there than in the caches. The caches
// will catch up, but until then writes that are decided from them would be refused again.

struct Reread {
  Outdated object;
  std::optional<std::string> text;  // nothing: the object is gone
};

/// The names of pods that exist.
std::set<std::string> pods_that_exist(const std::vector<Reread>& reread);

/// Reads the outdated objects again; nothing if the server doesn't answer.
std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated);

/// Replaces the caches' version of the object by the one read. Returns false if the object is the job itself
/// and is gone.
bool put_in(Observed& seen, const Reread& reread);

/// Writes by this operator whose times no cache shows; nothing where there was no such write.
struct Written {
  std::optional<Moment> status;
  std::string keys;  // the Secret that it made last
  std::optional<Moment> made_keys;
};

/// What an observation needs besides the caches.
struct BesideCaches {
  WriteFeedback feedback;
  std::vector<Reread> reread;
  std::optional<ProgressReport> heard;
  std::optional<Rank> silent_rank;
  Written written;
  Moment now{};
};

/// The job as observed; nothing if the job doesn't exist. Observed::cluster stays null.
std::optional<Observed> observe(const std::string& job, const Caches& caches, BesideCaches beside);

/// The cluster as the caches show it, seen by one job. The references must outlive it.
class CachedCluster final : public ClusterView {
 public:
  using Plan = std::function<GangPlan(const Gang&, const std::vector<std::string>& pods)>;
  using WhyNoRequest = std::function<std::string(std::size_t servers)>;
  using LargestPods = std::function<std::optional<PodSize>(const std::vector<Gang>& ways)>;
  CachedCluster(
      const Caches& caches, const GnnJob& job, Plan plan,
      WhyNoRequest why_no_request = [](std::size_t) { return std::string(); },
      LargestPods largest_pods = [](const std::vector<Gang>&) { return std::optional<PodSize>(); })
      : caches_(caches),
        job_(job),
        plan_(std::move(plan)),
        why_no_request_(std::move(why_no_request)),
        largest_pods_(std::move(largest_pods)) {}

  GangPlan plan(const Gang& gang, const std::vector<std::string>& pods) override { return plan_(gang, pods); }
  std::optional<PodSize> largest_pods(const std::vector<Gang>& ways) override { return largest_pods_(ways); }
  /// Lists pods of no job first, then those of other jobs.
  std::vector<std::string> other_pods(const std::string& node) override;
  bool is_another_first() const override;
  std::string why_no_request(std::size_t servers) override {
    has_asked_ = true;
    return why_no_request_(servers);
  }
  LoginKeys new_keys() override { return make_login_keys(); }
  /// Whether a decision wanted to ask for nodes.
  bool has_asked() const { return has_asked_; }

 private:
  const Caches& caches_;
  const GnnJob& job_;
  const Plan plan_;
  const WhyNoRequest why_no_request_;
  const LargestPods largest_pods_;
  bool has_asked_ = false;
};

}  // namespace atl::ctl
