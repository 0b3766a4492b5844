// A controller before the fake API server, on a cluster of four nodes, each with room for one server of 3
// cores and a launcher. Time passes when told to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "operator/run/controller.h"
#include "operator_api/sample_job.h"
#include "operator_kube/fake_clock.h"
#include "operator_run/fake_api.h"

namespace atl::ctl {

struct Stage {
  FakeCluster cluster;
  FakeApi api{cluster};
  kube::FakeClock clock;
  kube::Client client;
  Metrics metrics;
  bool leads = true;
  std::string progress;                      // what ranks report; "": nothing
  std::map<std::string, std::string> pages;  // by address: pages of servers that report something else
  Seconds reserve_after{300};
  bool kueue = false;
  ScaleUp scale_up = ScaleUp::kNone;
  int most_servers = 64;
  int writes_at_once = 16, polls_at_once = 16;
  std::string image = "atoll/engine:1";
  bool tells_changes_alone = false;  // the cluster's `changed` names all that changes (FakeWatches)
  std::unique_ptr<Controller> controller;

  Stage() : Stage(kube::RetryRule{.times = 0}) {}
  explicit Stage(const kube::RetryRule& retry) : client(api, {}, retry, clock) {
    for (int n = 1; n <= 4; ++n) {
      const std::string name = "n" + std::to_string(n);
      auto& labels = cluster.nodes[name].labels;
      labels["kubernetes.io/hostname"] = name, labels["rack"] = n <= 2 ? "r1" : "r2";
    }
    start();
  }

  /// Starts the operator, or another one after it died.
  void start() {
    Options options;
    options.settings.image = image;
    options.identity = "one";
    options.reserve_after = reserve_after;
    options.settings.kueue = kueue;
    options.settings.scale_up = scale_up;
    options.settings.placeholder_image = "pause:1";
    options.settings.placeholder_class = "atoll-placeholder";
    options.most_servers = most_servers;
    options.writes_at_once = writes_at_once;
    options.polls_at_once = polls_at_once;
    const auto ask = [this](const std::string& address) -> std::optional<std::string> {
      const auto own = pages.find(address);
      const std::string& page = own == pages.end() ? progress : own->second;
      return page.empty() ? std::nullopt : std::optional(page);
    };
    api.begin();
    controller = std::make_unique<Controller>(
        options, Controller::Dependencies{client, metrics, [this] { return leads; },
                                          [this] { return cluster.now; }, ask, clock});
  }

  void submit(const std::string& name, Changes changes = {}) {
    json job = sample_job_json(changes);
    job["metadata"]["name"] = name;
    job["metadata"]["uid"] = "uid of " + name;
    cluster.objects[{Kind::kJob, name}] = std::move(job);
    cluster.touch(Kind::kJob, name);
  }
  json& job(const std::string& name = "cora") { return cluster.objects.at({Kind::kJob, name}); }
  Status status(const std::string& name = "cora") {
    return read_status(job(name).value("status", json::object()));
  }
  std::string state(const std::string& name = "cora") { return state_of(status(name).conditions); }
  std::string reason(const char* condition, const std::string& name = "cora") {
    const Status now = status(name);
    const Condition* found = find_condition(now.conditions, condition);
    return found ? found->reason : "";
  }

  void tell_caches() {
    if (tells_changes_alone)
      api.push_changes(controller->caches());
    else
      api.push(controller->caches());
  }
  /// Works until there is no more news.
  void work() {
    for (int rounds = 0; rounds < 100; ++rounds) {
      tell_caches();
      bool has_worked = false;
      for (int works = 0; controller->work_once(); ++works) {  // with caches that lag behind
        ASSERT_LT(works, 1000) << "the same is done again and again";
        has_worked = true;
      }
      if (!has_worked) return;
    }
    FAIL() << "there is always something to do";
  }
  void run(
      int seconds, const std::function<bool()>& until = [] { return false; }) {
    for (int s = 0; s < seconds && !until(); ++s) {
      cluster.tick();
      clock.advance(Seconds(1));
      work();
      if (s % 5 == 0) controller->poll_progress_once();
      if (!api.is_cut) continue;
      api.is_cut = false;
      start();
    }
  }
  bool has_ended(const std::string& name = "cora") { return ctl::has_ended(status(name).conditions); }
  int count(const std::string& write) const {
    return int(std::count(api.writes.begin(), api.writes.end(), write));
  }
};

}  // namespace atl::ctl
