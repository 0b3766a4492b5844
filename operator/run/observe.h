// One job as the caches show it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/run/caches.h"
#include "operator/run/feedback.h"

namespace atl::ctl {

// Reading from the API server itself what a write has shown the caches to be behind with: they will catch up,
// but what is decided until then would be refused again.

struct Reread {
  Outdated object;
  std::optional<std::string> text;  // nothing: it is gone
};

/// Nothing where the server doesn't say.
std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated);

/// Puts it in the place of what the caches have. False where it is the job itself, and gone.
bool put_in(Observed& seen, const Reread& reread);

/// What stands beside the caches.
struct BesideCaches {
  WriteFeedback feedback;
  std::vector<Reread> reread;
  std::optional<ProgressReport> heard;
  std::optional<Rank> silent_rank;
  Moment now{};
};

/// Nothing where there is no such job. Without Observed::cluster.
std::optional<Observed> observe(const std::string& job, const Caches& caches, BesideCaches beside);

/// The cluster as the caches show it to one job, which it is a view for; references outlive it.
class CachedCluster final : public ClusterView {
 public:
  using Plan = std::function<GangPlan(const Gang&)>;
  CachedCluster(const Caches& caches, const GnnJob& job, Plan plan)
      : caches_(caches), job_(job), plan_(std::move(plan)) {}

  GangPlan plan(const Gang& gang) override { return plan_(gang); }
  /// Other people's pods first, then those of other jobs.
  std::vector<std::string> other_pods(const std::string& node) override;
  bool is_another_first() override;
  LoginKeys new_keys() override { return make_login_keys(); }

 private:
  const Caches& caches_;
  const GnnJob& job_;
  const Plan plan_;
};

}  // namespace atl::ctl
