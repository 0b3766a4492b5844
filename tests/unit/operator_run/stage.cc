#include "operator_run/stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace atl::ctl {

Stage::Stage(const kube::RetryRule& retry) : client(api, {}, retry, clock) {
  for (int n = 1; n <= 4; ++n) {
    const std::string name = "n" + std::to_string(n);
    auto& labels = cluster.nodes[name].labels;
    labels["kubernetes.io/hostname"] = name, labels["rack"] = n <= 2 ? "r1" : "r2";
  }
  start();
}

Stage::~Stage() = default;

Options Stage::options() const {
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
  return options;
}

void Stage::start() {
  controller.reset();
  api.begin();
  caches = std::make_unique<Caches>(scope_of(options()), news);
  make_controller();
}

void Stage::begin_term() {
  controller.reset();
  make_controller();
  controller->look_at_all();
}

void Stage::make_controller() {
  const auto ask = [this](const std::string& address) -> std::optional<std::string> {
    const auto own = pages.find(address);
    const std::string& page = own == pages.end() ? progress : own->second;
    return page.empty() ? std::nullopt : std::optional(page);
  };
  controller = std::make_unique<Controller>(
      options(), Controller::Dependencies{*caches, news, client, metrics, [this] { return leads; },
                                          [this] { return cluster.now; }, ask, clock});
}

void Stage::submit(const std::string& name, Changes changes) {
  json job = sample_job_json(changes);
  job["metadata"]["name"] = name;
  job["metadata"]["uid"] = "uid of " + name;
  cluster.objects[{Kind::kJob, name}] = std::move(job);
  cluster.touch(Kind::kJob, name);
}

Status Stage::status(const std::string& name) {
  return read_status(job(name).value("status", json::object()));
}

std::string Stage::reason(const char* condition, const std::string& name) {
  const Status now = status(name);
  const Condition* found = find_condition(now.conditions, condition);
  return found ? found->reason : "";
}

void Stage::tell_caches() {
  if (tells_changes_alone)
    api.push_changes(controller->caches());
  else
    api.push(controller->caches());
}

void Stage::work() {
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

void Stage::run(int seconds, const std::function<bool()>& until) {
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

int Stage::count(const std::string& write) const {
  return int(std::count(api.writes.begin(), api.writes.end(), write));
}

}  // namespace atl::ctl
