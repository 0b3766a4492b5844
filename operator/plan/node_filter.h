// Which nodes a job's pods may stand on: what its pod template demands of a node and what it tolerates, with
// the words for each refusal. The same rules as the scheduler's filters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace atl::ctl {

struct NodeState;

/// What every kubelet says of its node.
inline constexpr char kArchitectureLabel[] = "kubernetes.io/arch", kSystemLabel[] = "kubernetes.io/os",
                      kSystem[] = "linux";

/// What NVIDIA's GPU feature discovery says of the driver's major version: 580; under its name of before,
/// too.
inline constexpr const char* kDriverLabels[] = {"nvidia.com/cuda.driver-version.major",
                                                "nvidia.com/cuda.driver.major"};

/// key operator values: In, NotIn, Exists, DoesNotExist, Gt, Lt; of a label, or of the node's name.
struct LabelRule {
  std::string key, comparison;
  std::vector<std::string> values;
  bool of_name = false;  // matchFields metadata.name
};

/// Of each term all rules must hold.
using NodeTerms = std::vector<std::vector<LabelRule>>;

/// Of a NodeSelector, as node affinities of pods and of volumes have them.
NodeTerms node_terms(const nlohmann::json& selector);
/// Whether one of them holds. A term without rules holds for no node.
bool is_chosen_by(const NodeTerms& terms, const NodeState& node);
/// "zone In [a, b]"
std::string text(const LabelRule& rule);

struct Toleration {
  std::string key, comparison, value, effect;  // Equal (also where empty) or Exists; empty key or effect: all
};

struct NodeFilter {
  std::vector<LabelRule> selector;  // all must hold
  NodeTerms terms;                  // one of them must hold, if there are any
  std::vector<Toleration> tolerations;
  std::set<std::string> excluded;  // nodes that failed before
  int oldest_driver = 0;  // of NVIDIA's, its major version, of nodes whose labels tell it; 0: any will do

  /// From a pod template: JSON, possibly "". What isn't as in a pod is passed over: the API server's dry run,
  /// not the plan, refuses it.
  static NodeFilter of_template(const std::string& pod_template);

  /// What the other demands and tolerates as well. It has no terms.
  void join(const NodeFilter& other);

  /// Linux on one of these architectures, but where it has words of its own for either; none: on any.
  void demand_platform(const std::vector<std::string>& architectures);

  /// Why the node can't be used, "" if it can.
  std::string refusal(const NodeState& node) const;
};

}  // namespace atl::ctl
