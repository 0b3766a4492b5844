// What happens in the soak's world: jobs that arrive, and blows of many kinds, each again and again after
// waits that are drawn. In the last ten minutes of each hour the operator lives, hears and is heard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "operator_run/soak_oracle.h"

namespace atl::ctl {

class SoakDay {
 public:
  SoakDay(SoakWorld& world, SoakOracle& oracle) : world_(world), oracle_(oracle) {}

  /// Jobs arrive, and everything else happens, for so long. Operators die and are replaced in the first half:
  /// the last one lives through the second, so that what it never forgets shows.
  void live(Seconds length) {
    begin_ = world_.cluster.now;
    end_ = begin_ + length;
    expect_job();
    for (std::size_t b = 0; b < blows().size(); ++b) expect_blow(b);
    while (world_.cluster.now < end_ && !testing::Test::HasFailure()) step();
  }
  /// No job arrives and nothing more fails until everything has ended. Nothing may be left then.
  void drain() {
    next_.clear();
    mend_everything();
    begin_ = world_.cluster.now;
    end_ = begin_;  // from now on it is calm
    for (int second = 0; second < kLongestDrain && !testing::Test::HasFailure(); ++second) {
      if (world_.jobs.empty() && world_.due.empty() && second % 60 == 0) break;
      step();
    }
    if (testing::Test::HasFailure()) return;
    for (int second = 0; second < 120; ++second) step();
    swept_.clear();
    for (const auto& [name, job] : world_.jobs) ADD_FAILURE() << name << " never ends";
    oracle_.check_at_rest();
    oracle_.check_empty();
  }

 private:
  static constexpr int kLongestDrain = 3 * 3600;
  static constexpr double kUsualFaults = 0.001, kTrouble = 0.05;  // of requests

  struct Blow {
    const char* name;
    double mean_wait;  // seconds
    void (SoakDay::*strike)(const Fate& fate);
  };
  void step() {
    while (!next_.empty() && next_.begin()->first <= world_.cluster.now) {
      const auto event = next_.extract(next_.begin());
      event.mapped()();
    }
    const bool was_calm = world_.fault_rate == 0;
    if (is_calm() && !was_calm) make_calm();
    world_.fault_rate = is_calm() ? 0 : world_.cluster.now < trouble_until_ ? kTrouble : kUsualFaults;
    world_.step();
    if (world_.cluster.now.time_since_epoch().count() % 60 != 0) return;
    oracle_.check();
    delete_what_is_kept();
    const bool is_hours_end = is_calm() && world_.cluster.now < end_ && !is_calm_at(Seconds(60));
    if ((is_hours_end || world_.cluster.now == end_) && !world_.is_down) oracle_.check_at_rest();
  }

  bool is_calm() const { return is_calm_at(Seconds(0)); }
  bool is_calm_at(Seconds later) const {
    const Moment then = world_.cluster.now + later;
    return then >= end_ - Seconds(600) || (then - begin_) % Seconds(3600) >= Seconds(3000);
  }
  /// The operator hears of everything again, and lives on.
  void make_calm() {
    world_.api.cut_in = -1;
    if (world_.is_down) return;  // its successor will
    for (const std::string& feed : std::set(world_.api.broken)) world_.mend_watch(feed, true);
  }
  void mend_everything() {
    make_calm();
    trouble_until_ = {};
    have_scheduler();
    world_.mend_nodes();
    world_.take_strangers();
    for (const auto& [name, job] : world_.jobs)
      if (job.never_fits) world_.remove_job(job);
  }

  // Users.

  void expect_job() {
    const Fate fate(world_.seed, "arrival", std::uint64_t(arrivals_));
    next_.emplace(world_.cluster.now + fate.wait("next", 72), [this] {
      arrive(draw_job(world_.seed, arrivals_++));
      expect_job();
    });
  }
  void arrive(const SoakJob& job) {
    world_.submit(job);
    if (job.suspended_after > Seconds(0)) {
      world_.later(job.suspended_after, [this, job] { world_.set_suspended(job, true); });
      world_.later(job.suspended_after + job.pause, [this, job] { world_.set_suspended(job, false); });
    }
    if (job.deleted_after > Seconds(0)) world_.later(job.deleted_after, [this, job] { remove(job); });
  }
  void remove(const SoakJob& job) {
    world_.remove_job(job);
    if (!job.comes_again || job.never_fits || world_.cluster.now >= end_) return;
    world_.later(Seconds(90), [this, job] {
      if (!world_.is_name_free(job.name) || world_.cluster.now >= end_) return;
      SoakJob again = job;
      again.uid += ", again";
      again.comes_again = false;
      again.deleted_after = Seconds(0);
      arrive(again);
    });
  }
  /// Who sets no ttl deletes a job some time after its end.
  void delete_what_is_kept() {
    for (const auto& [name, job] : world_.jobs) {
      const json* object = job.ttl < 0 ? world_.object_of(name, job.uid) : nullptr;
      if (!object || !is_over(*object) || !swept_.insert(job.uid).second) continue;
      const Fate fate(world_.seed, "kept", std::uint64_t(job.number));
      world_.later(fate.between("time", Seconds(60), Seconds(1200)),
                   [this, kept = job] { world_.remove_job(kept); });
    }
  }

  // Blows.

  static std::span<const Blow> blows() {
    static constexpr Blow kAll[] = {
        {"a rank ends", 600, &SoakDay::end_rank},
        {"a rank runs out of memory", 1200, &SoakDay::kill_for_memory},
        {"a pod is evicted", 900, &SoakDay::evict},
        {"a kubelet evicts a pod", 1800, &SoakDay::evict_by_kubelet},
        {"a launcher ends", 1200, &SoakDay::end_launcher},
        {"a node is silent", 900, &SoakDay::silence_node},
        {"a node is replaced", 1500, &SoakDay::replace_node},
        {"a node is cordoned", 2400, &SoakDay::cordon_node},
        {"a kubelet rejects pods", 2400, &SoakDay::reject_pods},
        {"images are missing", 2400, &SoakDay::miss_images},
        {"the scheduler is away", 3000, &SoakDay::lose_scheduler},
        {"somebody else's pod comes", 40, &SoakDay::bring_stranger},
        {"a watch breaks", 300, &SoakDay::break_watch},
        {"the API server is in trouble", 1500, &SoakDay::trouble_server},
        {"the operator dies", 900, &SoakDay::kill_operator},
        {"the operator is upgraded", 2400, &SoakDay::upgrade},
        {"the queue wants room back", 900, &SoakDay::take_back_quota},
    };
    return kAll;
  }

  void expect_blow(std::size_t which) {
    const Blow& blow = blows()[which];
    const Fate fate(world_.seed, blow.name, struck_[which]++);
    next_.emplace(world_.cluster.now + fate.wait("next", blow.mean_wait), [this, which, fate] {
      (this->*blows()[which].strike)(fate);
      expect_blow(which);
    });
  }
  /// One of all jobs' pods that run in that role, or in any; "" where there is none.
  std::string a_pod(const Fate& fate, const std::string& wanted = "") const {
    std::vector<std::string> names;
    for (const auto& [name, pod] : world_.cluster.pods) {
      const std::string role = label_of(pod, kRoleLabel);
      if (phase_of(pod) == "Running" && !is_going(pod) && world_.is_usable(node_of(pod)) && !role.empty() &&
          (wanted.empty() || role == wanted))
        names.push_back(name);
    }
    return names.empty() ? "" : names[std::size_t(fate.below("pod", int(names.size())))];
  }
  std::string a_node(const Fate& fate) const {
    const auto& nodes = world_.cluster.nodes;
    return std::next(nodes.begin(), fate.below("node", int(nodes.size())))->first;
  }

  void end_rank(const Fate& fate) {
    const auto pod = a_pod(fate, kWorkerRole);
    if (!pod.empty()) world_.cluster.end_pod(pod, 1, "Error", "");
  }
  void kill_for_memory(const Fate& fate) {
    const auto pod = a_pod(fate, kWorkerRole);
    if (!pod.empty()) world_.cluster.end_pod(pod, 137, "OOMKilled", "");
  }
  void evict(const Fate& fate) {
    const auto name = a_pod(fate);
    if (name.empty()) return;
    json& pod = world_.cluster.pods.at(name);
    pod["status"]["conditions"].push_back(
        {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "EvictionByEvictionAPI"}});
    world_.cluster.remove(Kind::kPod, name, pod.at("metadata").at("uid").get<std::string>(), {});
  }
  void evict_by_kubelet(const Fate& fate) {
    const auto name = a_pod(fate);
    if (name.empty()) return;
    const json marked = {
        {"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "TerminationByKubelet"}};
    world_.cluster.end_pod(name, 137, "Error", "");
    json& status = world_.cluster.pods.at(name)["status"];
    status["reason"] = "Evicted";
    status["message"] = "The node was low on resource: memory.";
    status["conditions"] = json::array({marked});
  }
  void end_launcher(const Fate& fate) {
    const auto pod = a_pod(fate, kLauncherRole);
    if (!pod.empty()) world_.cluster.end_pod(pod, 137, "Error", "");
  }
  void silence_node(const Fate& fate) {
    const std::string name = a_node(fate);
    const bool is_short = fate.happens("short", 0.5);
    world_.set_dead(name, true);
    world_.later(is_short ? fate.between("time", Seconds(5), Seconds(40))
                          : fate.between("time", Seconds(120), Seconds(900)),
                 [this, name] { world_.set_dead(name, false); });
  }
  void replace_node(const Fate& fate) { world_.replace_node(a_node(fate)); }
  void change_node_for(Seconds time, const Fate& fate, bool FakeNode::*what, bool value) {
    const std::string name = a_node(fate);
    world_.change_node(name, [&](FakeNode& node) { node.*what = value; });
    world_.later(time, [this, name, what, value] {
      world_.change_node(name, [&](FakeNode& node) { node.*what = !value; });
    });
  }
  void cordon_node(const Fate& fate) { change_node_for(Seconds(600), fate, &FakeNode::is_cordoned, true); }
  void reject_pods(const Fate& fate) { change_node_for(Seconds(180), fate, &FakeNode::rejects, true); }
  void miss_images(const Fate& fate) { change_node_for(Seconds(300), fate, &FakeNode::pulls_images, false); }
  void have_scheduler() {
    world_.cluster.hinder = [](const json&) { return std::optional<std::string>(); };
  }
  void lose_scheduler(const Fate& fate) {
    world_.cluster.hinder = [](const json&) { return std::optional<std::string>(""); };
    world_.later(fate.between("time", Seconds(20), Seconds(200)), [this] { have_scheduler(); });
  }
  void bring_stranger(const Fate& fate) {
    const std::string pod = "app-" + std::to_string(strangers_++);
    const std::int64_t cores = 1000 * (2 + fate.below("cores", 5));
    if (!world_.bring_stranger(pod, cores, fate.below("node", 1000))) return;
    next_.emplace(world_.cluster.now + fate.wait("stay", 3000), [this, pod] { world_.take_pod(pod); });
  }
  void break_watch(const Fate& fate) {
    if (is_calm() || world_.is_down) return;
    const auto feeds = world_.feeds();
    world_.break_watch(feeds[std::size_t(fate.below("feed", int(feeds.size())))],
                       fate.between("time", Seconds(10), Seconds(200)), fate.happens("forgotten", 0.6));
  }
  void trouble_server(const Fate& fate) {
    trouble_until_ = world_.cluster.now + fate.between("time", Seconds(60), Seconds(300));
  }
  bool may_die() const {
    return !is_calm() && !world_.is_down && world_.cluster.now < begin_ + (end_ - begin_) / 2;
  }
  void kill_operator(const Fate& fate) {
    if (!may_die()) return;
    world_.api.cut_in = fate.below("writes", 20);
    world_.api.cut_after = fate.happens("after", 0.5);
  }
  /// The next release has another engine, and its resource spells out a default in every job.
  void upgrade(const Fate&) {
    if (!may_die()) return;
    world_.image = "atoll/engine:" + std::to_string(++release_);
    for (auto& [key, object] : world_.cluster.objects) {
      if (key.first != Kind::kJob) continue;
      object["spec"]["training"]["checkpoint"]["keep"] = 2;
      world_.cluster.touch(key.first, key.second);
    }
    world_.restart();
  }
  void take_back_quota(const Fate& fate) {
    std::vector<std::string> names;
    for (const auto& [name, job] : world_.jobs) {
      const json* object = job.is_queued ? world_.object_of(name, job.uid) : nullptr;
      if (object && !is_over(*object)) names.push_back(name);
    }
    if (!names.empty()) world_.queue.evict(names[std::size_t(fate.below("job", int(names.size())))]);
  }

  SoakWorld& world_;
  SoakOracle& oracle_;
  Moment begin_{}, end_{}, trouble_until_{};
  std::multimap<Moment, std::function<void()>> next_;  // arrivals and blows
  std::map<std::size_t, std::uint64_t> struck_;        // blows so far, by kind
  std::set<std::string> swept_;                        // jobs that their users will delete
  int arrivals_ = 0, strangers_ = 0, release_ = 1;
};

}  // namespace atl::ctl
