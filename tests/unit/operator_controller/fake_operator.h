// An operator around decide(): it shows decide() the fake cluster, carries out its decisions, and can be
// killed after any write. It remembers nothing, so a killed operator and its successor are the same.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/controller/decide.h"
#include "operator/controller/observed.h"
#include "operator/objects/objects.h"
#include "operator_api/sample_job.h"
#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

/// A view of the cluster made of functions, any of which a test may replace.
struct FakeView final : ClusterView {
  struct Functions {
    std::function<GangPlan(const Gang&)> plan;
    std::function<std::vector<std::string>(const std::string& node)> other_pods;
    std::function<bool()> is_another_first;
    std::function<LoginKeys()> new_keys;
    std::function<std::string(std::size_t servers)> why_no_request;
    std::function<std::optional<PodSize>(const std::vector<Gang>& ways)> largest_pods;
  };
  Functions of;

  GangPlan plan(const Gang& gang, const std::vector<std::string>&) override { return of.plan(gang); }
  std::vector<std::string> other_pods(const std::string& node) override { return of.other_pods(node); }
  bool is_another_first() const override { return of.is_another_first(); }
  std::string why_no_request(std::size_t servers) override { return of.why_no_request(servers); }
  LoginKeys new_keys() override { return of.new_keys(); }
  std::optional<PodSize> largest_pods(const std::vector<Gang>& ways) override {
    return of.largest_pods(ways);
  }
};

class FakeOperator {
 public:
  explicit FakeOperator(FakeCluster& cluster) : cluster_(cluster) {}

  Settings settings{.image = "atoll/engine:1"};
  int kill_after = -1;  // writes after which the operator dies and forgets the rest; −1: never
  int writes = 0;
  bool is_down = false;
  bool gets_logs = true;               // the API server can reach the kubelets
  std::function<void(Observed&)> add;  // adds to what is seen
  std::function<std::string(const std::string& pod)> fault_of = [](const std::string&) { return ""; };
  using Flavors = std::optional<std::set<std::string>>;
  std::function<Flavors(const std::string& queue)> flavors_of_queue = [](const std::string&) {
    return Flavors(std::set<std::string>{"on-demand"});
  };

  void submit(const json& job);
  json& job(const std::string& name = "cora") { return cluster_.objects.at({Kind::kJob, name}); }
  Status status(const std::string& name = "cora");
  std::string state(const std::string& name = "cora") { return state_of(status(name).conditions); }

  /// Valid until the next call.
  Observed observe(const std::string& name);
  /// Answers the decision's questions; answers that `seen` has already are kept.
  Decision decide_on(Observed& seen);
  /// Looks at every job until there is nothing left to do now.
  void work();
  /// Lets seconds pass, and works whenever something changed or a job asked for a look.
  void run(
      int seconds, const std::function<bool()>& until = [] { return false; });

  FakeView view;  // of the last observation

 private:
  /// Parses the manifest only when it changes, as a real operator's cache does.
  GnnJob read_job(json object);
  /// Answers as the API server would.
  void answer(const Wants& wants, Observed& seen);
  void look(const std::string& name);
  bool apply(const std::string& name, const Decision& decision);
  bool write(const std::string& name, const Write& write);
  void create(const std::string& name, const Write& write);
  bool is_another_first(const GnnJob& job);
  bool survives();

  FakeCluster& cluster_;
  std::map<std::string, Moment> look_again_;
  std::map<std::string, std::vector<Refusal>> refusals_;   // of the last writes, by job
  std::map<std::string, std::string> taken_keys_;          // likewise: Secrets that existed already
  std::map<std::string, std::vector<Refusal>> undeleted_;  // likewise: deletions
  int keys_made_ = 0;
  std::map<std::string, GnnJob> read_;  // by the object's text
};

}  // namespace atl::ctl
