// An operator around decide(): it shows decide() the fake cluster, carries out its decisions, and can be
// killed after any write. It remembers nothing, so a killed operator and its successor are the same.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/controller/decide.h"
#include "operator/controller/observed.h"
#include "operator/objects/objects.h"
#include "operator_api/sample_job.h"
#include "operator_api/status_schema.h"
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
  };
  Functions of;

  GangPlan plan(const Gang& gang, const std::vector<std::string>&) override { return of.plan(gang); }
  std::vector<std::string> other_pods(const std::string& node) override { return of.other_pods(node); }
  bool is_another_first() override { return of.is_another_first(); }
  std::string why_no_request(std::size_t servers) override { return of.why_no_request(servers); }
  LoginKeys new_keys() override { return of.new_keys(); }
};

class FakeOperator {
 public:
  explicit FakeOperator(FakeCluster& cluster) : cluster_(cluster) {}

  Settings settings{.image = "atoll/engine:1"};
  int kill_after = -1;  // writes after which the operator dies and forgets the rest; −1: never
  int writes = 0;
  bool is_down = false;
  std::function<void(Observed&)> add;  // adds to what is seen
  std::function<std::string(const std::string& pod)> fault_of = [](const std::string&) { return ""; };
  using Flavors = std::optional<std::set<std::string>>;
  std::function<Flavors(const std::string& queue)> flavors_of_queue = [](const std::string&) {
    return Flavors(std::set<std::string>{"on-demand"});
  };

  void submit(const json& job) {
    cluster_.objects[{Kind::kJob, job.at("metadata").at("name")}] = job;
    cluster_.is_changed = true;
  }
  json& job(const std::string& name = "cora") { return cluster_.objects.at({Kind::kJob, name}); }
  Status status(const std::string& name = "cora") {
    return read_status(job(name).value("status", json::object()));
  }
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
  GnnJob read_job(json object);
  void answer(const Wants& wants, Observed& seen);
  void look(const std::string& name);
  bool apply(const std::string& name, const Decision& decision);
  bool write(const std::string& name, const Write& write);
  void create(const std::string& name, const Write& write);
  bool is_another_first(const GnnJob& job);
  bool survives();

  FakeCluster& cluster_;
  std::map<std::string, Moment> look_again_;
  std::map<std::string, std::vector<Refusal>> refusals_;  // of the last writes, by job
  std::map<std::string, std::string> taken_keys_;         // likewise: Secrets that existed already
  bool is_refused_deletion_ = false;                      // likewise: one of them
  int keys_made_ = 0;
  std::map<std::string, GnnJob> read_;  // by the object's text
};

/// Parses the manifest only when it changes, as a real operator's cache does.
inline GnnJob FakeOperator::read_job(json object) {
  const Status status = read_status(object.value("status", json::object()));
  object.erase("status");
  const auto [known, is_new] = read_.try_emplace(object.dump());
  if (is_new) known->second = read_gnn_job(known->first);
  GnnJob read = known->second;
  read.status = status;
  read.made_of = recalled(read.made_of, read);
  return read;
}

inline Observed FakeOperator::observe(const std::string& name) {
  Observed seen;
  seen.job = read_job(job(name));
  for (const auto& [pod_name, pod] : cluster_.pods)
    if (label_of(pod, kJobLabel) == name) seen.pods.push_back(adopted(read_pod(pod.dump())));
  for (const auto& [key, object] : cluster_.objects) {
    if (key.first == Kind::kJob) continue;
    if (key.first == Kind::kSecret) continue;  // the operator may not read any
    const ObjectView object_view = read_object(key.first, object);
    if (object_view.meta.label(kJobLabel) == name) seen.objects.push_back(object_view);
    if (object_view.workload && object_view.meta.label(kJobLabel) == name)
      seen.job.admitted = admitted_pods(*object_view.workload, [this](const std::string& flavor) {
        const auto found = cluster_.flavors.find(flavor);
        return found == cluster_.flavors.end() ? std::nullopt : std::optional(flavor_template(found->second));
      });
  }
  seen.queue_priority = QueuePriority{};
  for (const auto& [flavor_name, flavor] : cluster_.flavors)
    if (has_topology(flavor)) seen.topology_flavors.insert(flavor_name);
  for (const auto& [node_name, node] : cluster_.nodes)
    seen.nodes[node_name] = {!node.is_dead, node.since, node.labels, node.is_cordoned, node.taints};
  seen.taken_keys = std::exchange(taken_keys_[name], "");
  view.of = {.plan = [this](const Gang& gang) { return plan_gang(gang, cluster_.snapshot()); },
             .other_pods =
                 [this, name](const std::string& node) {
                   std::vector<std::string> all;
                   for (const auto& [pod_name, pod] : cluster_.pods)
                     if (node_of(pod) == node && label_of(pod, kJobLabel) != name) all.push_back(pod_name);
                   return all;
                 },
             .is_another_first = [this, job = seen.job] { return is_another_first(job); },
             .new_keys =
                 [this] {
                   return LoginKeys{
                       {"login", "ssh-ed25519 L"}, {"host", "ssh-ed25519 H"}, std::to_string(++keys_made_)};
                 },
             .why_no_request = [](std::size_t) { return std::string(); }};
  seen.cluster = &view;
  seen.refusals = std::exchange(refusals_[name], {});
  seen.now = cluster_.now;
  if (add) add(seen);
  return seen;
}

inline bool FakeOperator::is_another_first(const GnnJob& job) {
  for (const auto& [key, object] : cluster_.objects) {
    if (key.first != Kind::kJob) continue;
    if (!is_refused_before(read_job(object), job)) continue;
    for (const auto& [name, pod] : cluster_.pods)
      if (label_of(pod, kJobLabel) == key.second && is_gated(read_pod(pod.dump()))) return true;
  }
  return false;
}

inline bool FakeOperator::survives() {
  const bool lives = writes++ != kill_after;
  if (!lives) taken_keys_.clear();
  return lives;
}

inline void FakeOperator::create(const std::string& name, const Write& write) {
  json object = json::parse(write.body);
  if (const std::string words = cluster_.refuse(write.kind, object); !words.empty())
    refusals_[name].push_back({std::string(name_of(write.kind)) + " " + write.name, words});
  else if (write.kind == Kind::kSecret && cluster_.objects.contains({write.kind, write.name}))
    taken_keys_[name] = write.name;
  else
    cluster_.create(write.kind, write.name, std::move(object));
}

inline bool FakeOperator::write(const std::string& name, const Write& write) {
  if (!survives()) return false;
  switch (write.verb) {
    case Write::Verb::kCreate:
      create(name, write);
      break;
    case Write::Verb::kPatch:
      if (write.kind == Kind::kPod)
        cluster_.patch_pod(write.name, json::parse(write.body));
      else
        cluster_.patch_object(write.kind, write.name, json::parse(write.body));
      break;
    case Write::Verb::kDelete:
      if (cluster_.keeps(write.kind, write.name))
        is_refused_deletion_ = true;
      else
        cluster_.remove(write.kind, write.name, write.uid, write.grace);
      break;
  }
  return cluster_.objects.contains({Kind::kJob, name});
}

inline bool FakeOperator::apply(const std::string& name, const Decision& decision) {
  if (decision.status) {
    if (!survives()) return false;
    const std::string text = write_status(*decision.status);
    EXPECT_TRUE(is_allowed_status(text));
    job(name)["status"] = json::parse(text);
  }
  for (const auto& stage : decision.stages) {
    for (const Write& w : stage)
      if (!write(name, w)) return false;
    if (is_refused_deletion_ || !refusals_[name].empty()) return false;
  }
  return true;
}

/// Answers as the API server would.
inline void FakeOperator::answer(const Wants& wants, Observed& seen) {
  if (wants.prepare_log)
    seen.prepare_log =
        cluster_.does_prepare_fail
            ? cluster_.failed_prepare_log
            : "loading\n{\"preparedChecksum\":\"p\",\"ranks\":4,\"flows\":[[0,2,100],[1,3,50]]" +
                  cluster_.prepares_also + "}\n";
  if (!wants.pod_fault.empty()) seen.pod_fault = fault_of(wants.pod_fault);
  if (!wants.queue.empty()) seen.queue = QueueAnswer{flavors_of_queue(wants.queue), seen.now + Seconds(300)};
  if (wants.secret.empty() || seen.secret) return;
  seen.secret = SecretAnswer{};
  if (cluster_.refuse(Kind::kSecret, {{"metadata", {{"name", wants.secret}}}}).empty())
    seen.secret->is_gone = !cluster_.objects.contains({Kind::kSecret, wants.secret});
}

inline Decision FakeOperator::decide_on(Observed& seen) {
  Decision decision = decide(seen, settings);
  for (int asked = 0; asked < 5 && decision.wants.is_any(); ++asked) {
    answer(decision.wants, seen);
    decision = decide(seen, settings);
  }
  return decision;
}

inline void FakeOperator::look(const std::string& name) {
  for (int looks = 0; cluster_.objects.contains({Kind::kJob, name}); ++looks) {
    ASSERT_LT(looks, 50) << name << " is never done: " << job(name).dump();
    Observed seen = observe(name);
    const Decision decision = decide_on(seen);
    look_again_.erase(name);
    if (decision.requeue_at) look_again_[name] = *decision.requeue_at;
    if (decision.is_empty()) return;
    is_refused_deletion_ = false;
    apply(name, decision);
    if (!is_refused_deletion_ && refusals_[name].empty()) continue;
    look_again_[name] = cluster_.now + Seconds(1);  // and not at once
    return;
  }
}

inline void FakeOperator::work() {
  cluster_.is_changed = false;
  std::vector<std::string> names;
  for (const auto& [key, object] : cluster_.objects)
    if (key.first == Kind::kJob) names.push_back(key.second);
  for (const std::string& name : names) look(name);
}

inline void FakeOperator::run(int seconds, const std::function<bool()>& until) {
  for (int s = 0; s < seconds && !until(); ++s) {
    cluster_.tick();
    bool is_due = cluster_.is_changed;
    for (const auto& [name, when] : look_again_) is_due |= cluster_.now >= when;
    if (is_due && !is_down) work();
  }
}

}  // namespace atl::ctl
