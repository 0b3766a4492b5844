// What must hold of the soak's world at any time, and what must hold when nothing is under way. The oracle
// reads the API server's objects (soak_readings.h) and remembers what they said before.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "operator_run/soak_readings.h"

namespace atl::ctl {

class SoakOracle {
 public:
  explicit SoakOracle(SoakWorld& world) : world_(world) {
    world.api.on_status = [this](const std::string& job, const json& before, const json& after) {
      check_status(job, before, after);
    };
  }

  /// At any moment.
  void check() {
    check_nodes();
    check_owners();
    const RoomCheck room(world_);
    std::set<std::string> uids;
    for (const auto& [name, job] : world_.jobs) {
      const json* object = world_.object_of(name, job.uid);
      if (!object) continue;
      uids.insert(job.uid);
      check_images(job);
      if (is_over(*object)) {
        check_end(job, *object);
      } else {
        check_gang(job, *object);
        check_wait(job, *object);
        check_room(job, *object, room);
      }
    }
    std::erase_if(known_, [&](const auto& known) { return !uids.contains(known.first); });
  }
  /// When the operator lives, has heard everything, and nothing has failed for longer than it waits for what
  /// it has written to show.
  void check_at_rest() {
    check_room_table();
    check_what_is_remembered();
  }
  /// When all jobs are gone, and the users' other pods. It is for `queue_.drop(job)` in Controller::forget.
  void check_empty() {
    for (const auto& [name, pod] : world_.cluster.pods) ADD_FAILURE() << when() << name << " is left";
    for (const auto& [key, object] : world_.cluster.objects)
      ADD_FAILURE() << when() << name_of(key.first) << " " << key.second << " is left";
    EXPECT_EQ(world_.cluster.nodes.size(), std::size_t(SoakWorld::kRacks * SoakWorld::kNodesOfRack));
    EXPECT_EQ(world_.controller->caches().size(), world_.cluster.nodes.size());
    for (const auto& [what, entries] : world_.controller->remembered())
      EXPECT_LE(entries, what == "queue" ? 2U : 0U) << when() << what;
  }

 private:
  struct Known {
    std::string image;
    std::string wait;
    Moment waits_since{};
    std::optional<Moment> partial_since;
    std::optional<Moment> ended;
    int launches_at_end = 0, minutes_of_room = 0;
  };

  /// Of a failure: when, in the soak's time.
  std::string when() const { return text_of(world_.cluster.now) + ": "; }

  /// How a job ends, and that it ends once. It is for `complete` in the steps of decide.cc.
  void check_status(const std::string& name, const json& before, const json& after) {
    ++world_.figures.statuses;
    for (const char* counter : {"attempt", "failures", "disruptions"})
      EXPECT_GE(after.value(counter, 0), before.value(counter, 0)) << when() << name << ": " << counter;
    const bool was_over = is_over({{"status", before}}), is_now = is_over({{"status", after}});
    EXPECT_TRUE(is_now || !was_over) << when() << name << " had ended";
    if (was_over || !is_now) return;
    const bool has_succeeded = said({{"status", after}}, "Succeeded").status == "True";
    ++(has_succeeded ? world_.figures.succeeded : world_.figures.failed);
    const SoakJob& job = world_.jobs.at(name);
    const bool is_to_fail = job.fails_at > 0 || job.hangs || job.is_invalid;
    EXPECT_NE(has_succeeded, is_to_fail) << when() << name << ":\n" << after.dump(1);
    EXPECT_EQ(world_.cluster.runs[name].completions, int(has_succeeded)) << when() << name;
  }

  /// No node is full twice over. It is for `planner_.room_.book(…)` in Planner::JobPlans::plan.
  void check_nodes() {
    const auto all = uses_of(world_, true), planned = uses_of(world_, false);
    for (const auto& [name, use] : all) {
      const auto node = world_.cluster.nodes.find(name);
      if (node == world_.cluster.nodes.end()) continue;
      EXPECT_LE(use.bound, node->second.cores) << when() << name << " has more pods than it can hold";
      // Somebody else's pod may be bound where a gang is planned. The gang is withdrawn then.
      const auto came = world_.stranger_came.find(name);
      const bool is_disputed =
          came != world_.stranger_came.end() && world_.cluster.now - came->second < Seconds(900);
      const auto plan = planned.find(name);
      if (plan == planned.end() || is_disputed || !world_.is_usable(name)) continue;
      EXPECT_LE(plan->second.all(), node->second.cores) << when() << name << " is promised twice";
    }
  }

  /// Whatever is made for a job names it as its owner, and goes with it. It is for the "ownerReferences" of
  /// operator/objects/parts.cc.
  void check_owners() {
    // What a job owns stays while a pod of it hangs on a silent node.
    std::set<std::string> owners, orphans;
    for (const auto& [name, job] : world_.jobs)
      if (world_.object_of(name, job.uid)) owners.insert(job.uid);
    for (const auto& [name, pod] : world_.cluster.pods) {
      const std::string node = pod.at("spec").value("nodeName", "");
      if (!label_of(pod, kJobLabel).empty() && !node.empty() && !world_.is_usable(node))
        owners.insert(owner_of(pod));
    }
    const auto look_at = [&](const std::string& name, const json& object) {
      const json& metadata = object.at("metadata");
      if (!metadata.contains("ownerReferences")) {
        ADD_FAILURE() << when() << name << " has no owner";
        return;
      }
      if (!owners.contains(owner_of(object))) orphans.insert(name);
    };
    for (const auto& [name, pod] : world_.cluster.pods)
      if (!label_of(pod, kJobLabel).empty()) look_at("Pod " + name, pod);
    for (const auto& [key, object] : world_.cluster.objects)
      if (key.first != Kind::kJob) look_at(std::string(name_of(key.first)) + " " + key.second, object);
    std::erase_if(orphans_, [&](const auto& known) { return !orphans.contains(known.first); });
    for (const std::string& name : orphans) {
      const Moment since = orphans_.try_emplace(name, world_.cluster.now).first->second;
      EXPECT_LE(world_.cluster.now - since, Seconds(300)) << when() << name << " outlives its job";
    }
  }

  /// All of a job's pods, of all its attempts and whichever operator made them, run one image. It is for
  /// `reconcile.use_image(…)` in make_belongings.
  void check_images(const SoakJob& job) {
    std::string& image = known_[job.uid].image;
    for (const auto& [name, pod] : world_.cluster.pods) {
      if (label_of(pod, kJobLabel) != job.name || owner_of(pod) != job.uid) continue;
      const std::string its = pod.at("spec").at("containers").at(0).at("image");
      if (image.empty()) image = its;
      EXPECT_EQ(its, image) << when() << name;
    }
  }

  /// It is for `clean_up` in the steps of decide.cc, and for `dismiss(…)` and `remove(Kind::kJob, …)` there.
  void check_end(const SoakJob& job, const json& object) {
    Known& known = known_[job.uid];
    const auto& run = world_.cluster.runs[job.name];
    if (!known.ended) {
      known.ended = world_.cluster.now;
      known.launches_at_end = run.launches;
    }
    EXPECT_EQ(run.launches, known.launches_at_end) << when() << job.name << " is trained again";
    EXPECT_LE(run.completions, 1) << when() << job.name;
    if (world_.cluster.now - *known.ended < Seconds(1800) || is_going(object)) return;
    EXPECT_LT(job.ttl, 0) << when() << job.name << " is kept for longer than its user wants";
    for (const auto& [name, pod] : world_.cluster.pods) {
      const bool is_kept = job.clean == "None" && label_of(pod, kRoleLabel) == kWorkerRole;
      const bool is_its = label_of(pod, kJobLabel) == job.name && owner_of(pod) == job.uid;
      EXPECT_FALSE(is_its && !is_kept && !is_ended(pod)) << when() << name << " runs on after its job's end";
    }
  }

  /// All of a gang's workers are released or none; or some stand, for a time, while lost ones are replaced.
  void check_gang(const SoakJob& job, const json& object) {
    std::set<std::string> released;
    for (const auto& [name, pod] : world_.cluster.pods)
      if (label_of(pod, kRoleLabel) == kWorkerRole && label_of(pod, kJobLabel) == job.name &&
          owner_of(pod) == job.uid && !has_gate(pod) && !is_ended(pod) && !is_going(pod))
        released.insert(label_of(pod, kServerLabel));
    Known& known = known_[job.uid];
    const bool is_partial = !released.empty() && int(released.size()) < job.servers;
    if (!is_partial || is_going(object)) {
      known.partial_since.reset();
      return;
    }
    if (!known.partial_since) known.partial_since = world_.cluster.now;
    const Seconds most = world_.cluster.runs[job.name].launches == 0 ? Seconds(1200) : Seconds(2400);
    EXPECT_LE(world_.cluster.now - *known.partial_since, most)
        << when() << job.name << " has places for " << released.size() << " of " << job.servers
        << " servers:\n"
        << object.dump(1);
  }

  /// Each job that isn't over waits for something that has a name, and not for too long. It is for
  /// `enqueue(job, true)` in Controller::conclude.
  void check_wait(const SoakJob& job, const json& object) {
    const SoakWait wait = wait_of(object, world_);
    const json status = status_of(object);
    EXPECT_FALSE(wait.what.empty()) << when() << "what " << job.name << " waits for has no name:\n"
                                    << object.dump(1);
    std::string what = wait.what;
    for (const char* counter : {"attempt", "failures", "disruptions", "withdrawals"})
      what += " " + std::to_string(status.value(counter, 0));
    Known& known = known_[job.uid];
    if (known.wait != what) {
      known.wait = what;
      known.waits_since = world_.cluster.now;
    }
    EXPECT_LE(world_.cluster.now - known.waits_since, wait.most)
        << when() << job.name << " waits too long for: " << wait.what << "\n"
        << object.dump(1);
  }

  /// A gang for which there is room, and which is the first, has it within ten minutes. It is for the
  /// `queue_.add_after(job, …requeue_at…)` of Controller::work_on and that of room_changed, both together.
  void check_room(const SoakJob& job, const json& object, const RoomCheck& room) {
    Known& known = known_[job.uid];
    const bool is_seen = !world_.is_down && world_.api.broken.empty();
    const bool has_standing = std::ranges::any_of(world_.cluster.pods, [&](const auto& pod) {
      return label_of(pod.second, kJobLabel) == job.name && !has_gate(pod.second) && !is_ended(pod.second);
    });
    const bool is_wanted = RoomCheck::has_no_room(object) && wait_of(object, world_).what == "room" &&
                           !job.never_fits && !has_standing;
    if (!is_wanted || !room.is_ample(job, object) || !room.is_first(job, object)) {
      known.minutes_of_room = 0;
      return;
    }
    known.minutes_of_room += is_seen;
    EXPECT_LE(known.minutes_of_room, 10) << when() << job.name << " has room and isn't started:\n"
                                         << object.dump(1);
  }

  /// What the operator takes for free is what is left when all pods are counted from nothing. It is for
  /// `booked_.erase(pod)` in RoomTable::cancel.
  void check_room_table() {
    RoomTable& table = world_.controller->caches().room();
    const auto uses = uses_of(world_, true);
    std::size_t shown = 0;
    for (const auto& [name, node] : world_.cluster.nodes) shown += !world_.api.hidden_nodes.contains(name);
    const Snapshot& kept = table.snapshot("");
    EXPECT_EQ(kept.nodes.size(), shown) << when();
    for (std::size_t n = 0; n < kept.nodes.size(); ++n) {
      const std::string& name = kept.nodes[n].name;
      const auto node = world_.cluster.nodes.find(name);
      ASSERT_TRUE(node != world_.cluster.nodes.end()) << when() << name << " is gone";
      const auto use = uses.find(name);
      const NodeUse taken = use == uses.end() ? NodeUse{} : use->second;
      EXPECT_EQ(kept.left[n].free.of("cpu"), node->second.cores - taken.all()) << when() << name;
      EXPECT_EQ(kept.left[n].free.of("pods"), 100 - taken.pods) << when() << name;
    }
    EXPECT_EQ(table.bookings(), 0U) << when() << "all pods are there, or will never be";
  }

  /// No more than there is of what it is about. It is for `queue_.drop(job)` and its like in
  /// Controller::forget.
  void check_what_is_remembered() {
    std::size_t live = 0, seen = 0;
    for (const auto& [name, node] : world_.cluster.nodes) seen += !world_.api.hidden_nodes.contains(name);
    for (const auto& [name, pod] : world_.cluster.pods)
      seen += !label_of(pod, kJobLabel).empty() || !is_ended(pod);
    for (const auto& [key, object] : world_.cluster.objects) {
      live += key.first == Kind::kJob;
      seen += key.first != Kind::kSecret;  // which the operator can't read
    }
    EXPECT_EQ(world_.controller->caches().size(), seen) << when();
    EXPECT_LE(world_.controller->caches().room().jobs(), live) << when();
    for (const auto& [what, entries] : world_.controller->remembered())
      EXPECT_LE(entries, what == "queue"          ? 2 * live + 2
                         : what == "expectations" ? 0
                                                  : live)
          << when() << what << " of " << live << " jobs";
  }

  static std::string owner_of(const json& object) {
    return object.at("metadata").at("ownerReferences").at(0).at("uid").get<std::string>();
  }

  SoakWorld& world_;
  std::map<std::string, Known> known_;     // by the job's UID
  std::map<std::string, Moment> orphans_;  // since when they are
};

}  // namespace atl::ctl
