// A cluster in memory: an API server that keeps JSON, a scheduler that counts cores, kubelets that start pods
// bound to them and remove deleted ones, and nodes that die. Everything happens in tick(), one second at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {

using nlohmann::json;

inline const Moment kBegin = *parse_moment("2026-03-01T12:00:00Z");

struct FakeNode {
  std::int64_t cores = 4000;  // in thousandths
  bool is_dead = false;       // its kubelet is silent; pods there run on
  bool is_cordoned = false;
  std::vector<Taint> taints{};
  Moment since = kBegin;
  bool pulls_images = true;
  bool rejects = false;  // its kubelet rejects every pod
  std::map<std::string, std::string> labels{{kSystemLabel, kSystem}};
  std::int64_t gpus = 0;
  std::string gpu_resource = kGpuResource;
};

/// A launcher's behaviour from its start on.
struct FakeTraining {
  int seconds = 20;          // of a whole run
  int checkpoint_every = 5;  // seconds
};

class FakeCluster {
 public:
  Moment now = kBegin;
  std::map<std::string, FakeNode> nodes;
  std::map<std::string, json> pods;                                   // by name
  std::map<std::pair<Kind, std::string>, json> objects;               // all others, including jobs
  std::map<std::string, json> flavors;                                // Kueue's ResourceFlavors
  std::map<std::string, int> priorities{{"atoll-placeholder", -10}};  // PriorityClasses
  FakeTraining training;
  std::map<std::string, FakeTraining> trainings;  // of jobs that behave otherwise
  bool is_changed = true;                         // since somebody last looked
  // what has come, changed or gone; whoever reads it empties it
  std::set<std::pair<Kind, std::string>> changed;
  std::set<std::string> changed_nodes;
  bool is_seen_late = false;  // whoever writes may not have seen the latest state

  struct Run {  // a job's runs, as its output folder and its launchers know them
    int launches = 0, completions = 0, newest_attempt = 0, seconds_done = 0, checkpoint = 0;
  };
  std::map<std::string, Run> runs;
  /// Why the API server refuses an object, "" where it accepts it.
  std::function<std::string(Kind, const json&)> refuse = [](Kind, const json&) { return ""; };
  /// Whether it refuses to delete an object of that name.
  std::function<bool(Kind, const std::string&)> keeps = [](Kind, const std::string&) { return false; };
  /// What the scheduler does with a pod that has no node. Nothing: finds a node. "": is silent. Else: its
  /// reason against the pod.
  std::function<std::optional<std::string>(const json&)> hinder = [](const json&) { return std::nullopt; };
  std::set<std::string> stands_still;  // pods whose processes can't be killed, as of a hanging disk
  std::string network = "10.1.0.";     // the beginning of pods' addresses
  int prepares = 0;
  bool does_prepare_fail = false, does_prepare_hang = false;
  json waits_for = {{"reason", "ImagePullBackOff"},
                    {"message", "no such image"}};  // where images can't be pulled
  std::string failed_prepare_log = "loading\nno data set 'cora'\n", prepare_reason = "Completed",
              prepare_message;     // of one that fails
  bool are_findings_long = false;  // for a termination message; then the log alone has them
  // members of the prepare step's result beside the usual ones: ,"strategy":…
  std::string prepares_also;
  std::function<std::string(const std::string& pod)> finds;  // if set, the whole result
  std::function<void()> others;  // controllers beside the operator, called once a second

  void tick();
  /// Somebody has changed the object in place, or it comes or goes.
  void touch(Kind kind, const std::string& name);
  void touch_node(const std::string& name);

  void create(Kind kind, const std::string& name, json object);
  void patch_pod(const std::string& name, const json& patch);
  void patch_object(Kind kind, const std::string& name, const json& patch);
  void remove(Kind kind, const std::string& name, const std::string& uid, std::optional<int> grace);

  /// Adds somebody else's pod, bound at once.
  void occupy(const std::string& node, std::int64_t cores, const std::string& name = "stranger");
  /// Ends a container from inside.
  void end_pod(const std::string& name, int exit_code, const std::string& reason, const std::string& message);
  std::vector<std::string> pods_of(const std::string& job, const std::string& role) const;
  Snapshot snapshot() const;
  bool is_running(const std::string& pod) const;
  /// What a prepare pod finds, as it says it.
  std::string findings_of(const std::string& pod) const;

 private:
  void schedule(json& pod);
  void refuse_place(json& pod, const std::string& why);
  void live(const std::string& name, json& pod);
  void begin(const std::string& name, json& pod);
  void end_preparing(const std::string& name);
  void train(const std::string& name, json& pod);
  void check_gang(const std::string& name, const json& pod) const;
  void begin_training(const std::string& name, const json& pod);
  void evict_from_dead_nodes(json& pod);
  bool take_away(const std::string& name, json& pod);
  NodeState state_of_node(const std::string& name) const;
  /// Thousandths of cores that bound pods take, by node.
  std::map<std::string, std::int64_t> used() const;

  std::set<std::string> trains_;  // uids of launchers
  int next_uid_ = 1, next_ip_ = 1;
};

std::string label_of(const json& pod, const char* label);
std::string node_of(const json& pod);
std::string phase_of(const json& pod);

}  // namespace atl::ctl
