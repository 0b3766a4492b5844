#include "operator_controller/fake_operator.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator_api/status_schema.h"

namespace atl::ctl {

void FakeOperator::submit(const json& job) {
  cluster_.objects[{Kind::kJob, job.at("metadata").at("name")}] = job;
  cluster_.is_changed = true;
}

Status FakeOperator::status(const std::string& name) {
  return read_status(job(name).value("status", json::object()));
}

GnnJob FakeOperator::read_job(json object) {
  Status status = read_status(object.value("status", json::object()));
  object.erase("status");
  const auto [known, is_new] = read_.try_emplace(object.dump());
  if (is_new) known->second = read_gnn_job(known->first);
  GnnJob read = known->second;
  enter_status(read, std::move(status));
  return read;
}

Observed FakeOperator::observe(const std::string& name) {
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
             .why_no_request = [](std::size_t) { return std::string(); },
             .largest_pods =
                 [this](const std::vector<Gang>& ways) {
                   return largest_pods(ways, cluster_.snapshot(), settings.gpu_resource);
                 }};
  seen.cluster = &view;
  seen.refusals = std::exchange(refusals_[name], {});
  seen.undeleted = std::exchange(undeleted_[name], {});
  seen.now = cluster_.now;
  if (add) add(seen);
  return seen;
}

bool FakeOperator::is_another_first(const GnnJob& job) {
  for (const auto& [key, object] : cluster_.objects) {
    if (key.first != Kind::kJob) continue;
    if (!is_refused_before(read_job(object), job)) continue;
    for (const auto& [name, pod] : cluster_.pods)
      if (label_of(pod, kJobLabel) == key.second && is_gated(read_pod(pod.dump()))) return true;
  }
  return false;
}

bool FakeOperator::survives() {
  const bool lives = writes++ != kill_after;
  if (!lives) taken_keys_.clear();
  return lives;
}

void FakeOperator::create(const std::string& name, const Write& write) {
  json object = parse_json(write.body);
  if (const std::string words = cluster_.refuse(write.kind, object); !words.empty())
    refusals_[name].push_back({std::string(name_of(write.kind)) + " " + write.name, words});
  else if (write.kind == Kind::kSecret && cluster_.objects.contains({write.kind, write.name}))
    taken_keys_[name] = write.name;
  else
    cluster_.create(write.kind, write.name, std::move(object));
}

bool FakeOperator::write(const std::string& name, const Write& write) {
  if (!survives()) return false;
  switch (write.verb) {
    case Write::Verb::kCreate:
      create(name, write);
      break;
    case Write::Verb::kPatch:
      if (write.kind == Kind::kPod)
        cluster_.patch_pod(write.name, parse_json(write.body));
      else
        cluster_.patch_object(write.kind, write.name, parse_json(write.body));
      break;
    case Write::Verb::kDelete:
      if (cluster_.keeps(write.kind, write.name))
        undeleted_[name].push_back({std::string(name_of(write.kind)) + " " + write.name, "it is kept today"});
      else
        cluster_.remove(write.kind, write.name, write.uid, write.grace);
      break;
  }
  return cluster_.objects.contains({Kind::kJob, name});
}

bool FakeOperator::apply(const std::string& name, const Decision& decision) {
  if (decision.status) {
    if (!survives()) return false;
    const std::string text = write_status(*decision.status);
    EXPECT_TRUE(is_allowed_status(text));
    job(name)["status"] = parse_json(text);
  }
  for (const auto& stage : decision.stages) {
    for (const Write& w : stage)
      if (!write(name, w)) return false;
    if (!undeleted_[name].empty() || !refusals_[name].empty()) return false;
  }
  return true;
}

void FakeOperator::answer(const Wants& wants, Observed& seen) {
  if (wants.prepare_log && gets_logs)
    seen.prepare_log = cluster_.does_prepare_fail || cluster_.does_prepare_hang
                           ? cluster_.failed_prepare_log
                           : "loading\n" + cluster_.findings_of(prepare_name(seen.job.meta.name)) + "\n";
  if (!wants.pod_fault.empty()) seen.pod_fault = fault_of(wants.pod_fault);
  if (!wants.queue.empty()) seen.queue = QueueAnswer{flavors_of_queue(wants.queue), seen.now + Seconds(300)};
  if (wants.secret.empty() || seen.secret) return;
  seen.secret = SecretAnswer{};
  if (cluster_.refuse(Kind::kSecret, {{"metadata", {{"name", wants.secret}}}}).empty())
    seen.secret->is_gone = !cluster_.objects.contains({Kind::kSecret, wants.secret});
}

Decision FakeOperator::decide_on(Observed& seen) {
  Decision decision = decide(seen, settings);
  for (int asked = 0; asked < 5 && decision.wants.is_any(); ++asked) {
    answer(decision.wants, seen);
    decision = decide(seen, settings);
  }
  return decision;
}

void FakeOperator::look(const std::string& name) {
  for (int looks = 0; cluster_.objects.contains({Kind::kJob, name}); ++looks) {
    ASSERT_LT(looks, 50) << name << " is never done: " << job(name).dump();
    Observed seen = observe(name);
    const Decision decision = decide_on(seen);
    look_again_.erase(name);
    if (decision.requeue_at) look_again_[name] = *decision.requeue_at;
    if (decision.wants.is_any())
      look_again_[name] = cluster_.now + Seconds(1);  // for an answer that didn't come
    if (!decision.status && decision.stages.empty()) return;
    apply(name, decision);
    if (undeleted_[name].empty() && refusals_[name].empty()) continue;
    look_again_[name] = cluster_.now + Seconds(1);  // and not at once
    return;
  }
}

void FakeOperator::work() {
  cluster_.is_changed = false;
  std::vector<std::string> names;
  for (const auto& [key, object] : cluster_.objects)
    if (key.first == Kind::kJob) names.push_back(key.second);
  for (const std::string& name : names) look(name);
}

void FakeOperator::run(int seconds, const std::function<bool()>& until) {
  for (int s = 0; s < seconds && !until(); ++s) {
    cluster_.tick();
    bool is_due = cluster_.is_changed;
    for (const auto& [name, when] : look_again_) is_due |= cluster_.now >= when;
    if (is_due && !is_down) work();
  }
}

}  // namespace atl::ctl
