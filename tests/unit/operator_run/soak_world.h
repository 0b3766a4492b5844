// The soak's cluster as users and an operator have it: users make jobs and change their minds, ranks report
// or fail, the operator dies and has successors, and requests and watches get lost. Time passes second by
// second.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator_run/soak_cluster.h"
#include "operator_run/soak_jobs.h"

namespace atl::ctl {

struct SoakWorld : SoakCluster {
  const std::uint64_t seed;
  std::map<std::string, SoakJob> jobs;  // those that exist, or of which something is left
  double fault_rate = 0;                // of requests to the API server
  bool is_down = false;                 // no operator runs

  explicit SoakWorld(std::uint64_t of) : seed(of) {
    cluster.finds = [this](const std::string& pod) { return findings_of(job_of_prepare_pod(pod)); };
    api.log = [this](const std::string& pod) { return "loading\n" + cluster.findings_of(pod) + "\n"; };
    api.refuse = [this](const std::string& method, const FakeApi::Target& target) {
      return refused(method, target);
    };
    api.lose = [this](const std::string&, const FakeApi::Target& target) { return lost(target); };
    writes_at_once = polls_at_once = 1;  // so that a seed gives the same day again
    restart();
  }

  /// One second.
  void step() {
    cluster.tick();
    clock.advance(Seconds(1));
    do_what_is_due();
    const auto second = cluster.now.time_since_epoch().count();
    cluster.are_findings_long = second % 120 < 60;  // else the pod's termination message has them
    if (second % 5 == 0) {
      end_ranks_that_fail();
      collect_garbage();
    }
    if (second % 60 == 0) keep_house();
    if (is_down) return;
    cluster.is_seen_late = !api.broken.empty();
    if (second % 5 == 0) {
      tell_progress();
      controller->poll_progress_once();
    }
    work();
    if (second % 60 == 0) {
      controller->flush_events();
      controller->metrics_text();
    }
    if (api.is_cut) die();
  }

  // Users.

  void submit(const SoakJob& job) {
    jobs[job.name] = job;
    figures.attempts += cluster.runs[job.name].launches;
    cluster.runs.erase(job.name);
    cluster.trainings[job.name] = {job.seconds, 60};
    cluster.objects[{Kind::kJob, job.name}] = object_for(job, cluster.now);
    cluster.touch(Kind::kJob, job.name);
    ++figures.jobs;
  }
  /// Null where the job is gone, also if another has its name.
  json* object_of(const std::string& name, const std::string& uid) {
    const auto found = cluster.objects.find({Kind::kJob, name});
    return found != cluster.objects.end() && found->second["metadata"]["uid"] == uid ? &found->second
                                                                                     : nullptr;
  }
  void set_suspended(const SoakJob& job, bool is_suspended) {
    json* object = object_of(job.name, job.uid);
    if (!object || (*object)["metadata"].contains("deletionTimestamp")) return;
    (*object)["spec"]["runPolicy"]["suspend"] = is_suspended;
    json& generation = (*object)["metadata"]["generation"];
    generation = generation.get<int>() + 1;
    cluster.touch(Kind::kJob, job.name);
  }
  void remove_job(const SoakJob& job) {
    json* object = object_of(job.name, job.uid);
    if (!object || (*object)["metadata"].contains("deletionTimestamp")) return;
    ++figures.deleted;
    if (job.is_deleted_last)
      (*object)["metadata"]["deletionTimestamp"] = text_of(cluster.now);
    else
      cluster.objects.erase({Kind::kJob, job.name});
    cluster.touch(Kind::kJob, job.name);
  }
  /// Whether nothing at all has the job's name.
  bool is_name_free(const std::string& name) const {
    const auto is_of = [&](const json& object) { return label_of(object, kJobLabel) == name; };
    return !cluster.objects.contains({Kind::kJob, name}) &&
           std::ranges::none_of(cluster.pods, is_of, &std::pair<const std::string, json>::second) &&
           std::ranges::none_of(cluster.objects, [&](const auto& object) { return is_of(object.second); });
  }

  // The operator.

  /// A successor, which has nothing but what the API server has.
  void restart() {
    api.is_cut = is_down = false;
    api.cut_in = -1;
    api.broken.clear();
    start();
    api.push(controller->caches());
    controller->look_at_all();
    ++figures.operators;
  }
  void die() {
    is_down = true;
    ++figures.deaths;
    later(Fate(seed, "death", std::uint64_t(figures.deaths)).between("down", Seconds(1), Seconds(120)),
          [this] { restart(); });
  }
  std::vector<std::string> feeds() {
    std::vector<std::string> names;
    for (const Feed& feed : controller->caches().feeds()) names.push_back(FakeWatches::name_of(feed));
    return names;
  }
  /// The caches hear nothing of a feed for a while; then the watch is resumed, or all objects are listed.
  void break_watch(const std::string& feed, Seconds silence, bool is_forgotten) {
    if (is_down) return;
    api.broken.insert(feed);
    later(silence, [this, feed, is_forgotten] { mend_watch(feed, is_forgotten); });
  }
  void mend_watch(const std::string& feed, bool is_forgotten) {
    if (is_down || api.broken.erase(feed) == 0) return;
    figures.lists += is_forgotten;
    if (is_forgotten)
      api.relist(controller->caches(), feed);
    else
      api.push(controller->caches());
  }

 private:
  const SoakJob& job_of_prepare_pod(const std::string& pod) const {
    return jobs.at(label_of(cluster.pods.at(pod), kJobLabel));
  }
  std::optional<FakeApi::Refusal> refused(const std::string& method, const FakeApi::Target& target) {
    const Fate fate(seed, "request", ++requests_);
    if (target.plural == "events" || !fate.happens("refused", fault_rate)) return {};
    ++figures.refusals;
    if (method == "PATCH" && fate.happens("conflict", 0.5))
      return FakeApi::Refusal{409, "Conflict", "the object has been modified"};
    return FakeApi::Refusal{500, "InternalError", "etcdserver: request timed out"};
  }
  FakeApi::Loss lost(const FakeApi::Target& target) {
    const Fate fate(seed, "exchange", ++requests_);
    if (target.plural == "events" || !fate.happens("lost", fault_rate)) return FakeApi::Loss::kNone;
    ++figures.losses;
    return fate.happens("on its way", 0.5) ? FakeApi::Loss::kRequest : FakeApi::Loss::kAnswer;
  }
  /// The pod of the first server of each job that trains.
  std::map<std::string, std::string> training() const {
    std::set<std::string> launched;
    for (const auto& [name, pod] : cluster.pods)
      if (label_of(pod, kRoleLabel) == kLauncherRole && cluster.is_running(name))
        launched.insert(label_of(pod, kJobLabel));
    std::map<std::string, std::string> first;
    for (const auto& [name, pod] : cluster.pods)
      if (label_of(pod, kServerLabel) == "0" && cluster.is_running(name) &&
          launched.contains(label_of(pod, kJobLabel)))
        first[label_of(pod, kJobLabel)] = name;
    return first;
  }
  /// What ranks report when they are asked.
  void tell_progress() {
    pages.clear();
    for (const auto& [name, pod] : training()) {
      const auto job = jobs.find(name);
      if (job == jobs.end() || job->second.is_silent) continue;
      const auto& run = cluster.runs[name];
      const int epoch = job->second.hangs ? std::min(run.seconds_done, 30) : run.seconds_done;
      const json page = {{"epoch", epoch},
                         {"epochs", job->second.seconds},
                         {"loss", 1.5},
                         {"epochSeconds", 1},
                         {"lastCheckpointEpoch", run.checkpoint}};
      pages["http://" + cluster.pods.at(pod).at("status").at("podIP").get<std::string>() + ":9400"] =
          page.dump();
    }
  }
  void end_ranks_that_fail() {
    for (const auto& [name, pod] : training()) {
      const auto job = jobs.find(name);
      const bool fails = job != jobs.end() && job->second.fails_at > 0 &&
                         cluster.runs[name].seconds_done >= job->second.fails_at;
      if (fails) cluster.end_pod(pod, 1, "Error", "");
    }
  }
  /// Forgets what nobody asks for any more, and takes the figures of the last minute.
  void keep_house() {
    figures.writes += std::size_t(std::ranges::count_if(
        api.writes, [](const std::string& write) { return write.find(" events ") == std::string::npos; }));
    api.forget_requests();
    std::erase_if(jobs, [this](const auto& job) {
      if (!is_name_free(job.first)) return false;
      figures.attempts += cluster.runs[job.first].launches;
      cluster.runs.erase(job.first);
      cluster.trainings.erase(job.first);
      return true;
    });
    figures.most_jobs = std::max(figures.most_jobs, jobs.size());
    figures.most_pods = std::max(figures.most_pods, cluster.pods.size());
    figures.bytes = mallinfo2().uordblks;
    figures.most_bytes = std::max(figures.most_bytes, figures.bytes);
  }

  std::uint64_t requests_ = 0;
};

}  // namespace atl::ctl
