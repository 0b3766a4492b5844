// Which nodes a job's pods may use: what their template demands of a node and what it tolerates, with words
// for each refusal. Follows the scheduler's filters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace atl::ctl {

struct NodeState;

/// Labels that every kubelet sets on its node.
inline constexpr char kArchitectureLabel[] = "kubernetes.io/arch", kSystemLabel[] = "kubernetes.io/os",
                      kSystem[] = "linux", kHostnameLabel[] = "kubernetes.io/hostname";

/// Labels of NVIDIA's GPU feature discovery for the driver's major version, such as 580; by their present and
/// their former name.
inline constexpr const char* kDriverLabels[] = {"nvidia.com/cuda.driver-version.major",
                                                "nvidia.com/cuda.driver.major"};

/// A rule on a label, or on the node's name. Comparisons: In, NotIn, Exists, DoesNotExist, Gt, Lt.
struct LabelRule {
  std::string key, comparison;
  std::vector<std::string> values;
  bool of_name = false;  // matchFields metadata.name
  bool operator==(const LabelRule&) const = default;
};

/// Terms; all rules of a term must hold.
using NodeTerms = std::vector<std::vector<LabelRule>>;

/// The terms of a NodeSelector, as in node affinities of pods and of volumes.
NodeTerms node_terms(const nlohmann::json& selector);
/// Whether one of the terms holds. A term without rules holds for no node.
bool is_chosen_by(const NodeTerms& terms, const NodeState& node);
/// "zone In [a, b]"
std::string text(const LabelRule& rule);

struct Toleration {
  // comparison: Equal (also where empty), Exists, Gt or Lt; empty key or effect: all
  std::string key, comparison, value, effect;
  bool operator==(const Toleration&) const = default;
};

struct NodeFilter {
  std::vector<LabelRule> selector;  // all must hold
  NodeTerms terms;                  // if there are any, one must hold
  std::vector<Toleration> tolerations;
  std::set<std::string> excluded;  // nodes that failed before
  int oldest_driver = 0;  // NVIDIA's major version, checked where a node's labels tell it; 0: any will do

  /// From a pod template: JSON, possibly "". Skips what doesn't fit a pod, because the API server's dry run
  /// refuses it.
  static NodeFilter of_template(const std::string& pod_template);

  /// Adds the demands and tolerations of `other`, which has no terms.
  void join(const NodeFilter& other);

  /// Adds the demands and tolerations of a pod that this hasn't yet: what admission added to it. Leaves out
  /// tolerations of a node's troubles (node.kubernetes.io/…): no plan uses such a node.
  void join_admitted(const NodeFilter& pod);

  /// Demands Linux and one of these architectures, unless the template names its own; empty: no demand.
  void demand_platform(const std::vector<std::string>& architectures);

  /// Why the node can't be used; "" if it can.
  std::string refusal(const NodeState& node) const;
};

}  // namespace atl::ctl
