// Which nodes a job's pods may use: what their template demands of a node, and what it tolerates. Each
// refusal comes with its reason. Follows the scheduler's filters.
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

/// Labels of NVIDIA's GPU feature discovery for the driver's major version, such as 580. The present label
/// comes first, then the former one.
inline constexpr const char* kDriverLabels[] = {"nvidia.com/cuda.driver-version.major",
                                                "nvidia.com/cuda.driver.major"};

/// A rule on a label, or on the node's name. Comparisons: In, NotIn, Exists, DoesNotExist, Gt, Lt.
struct LabelRule {
  std::string key, comparison;
  std::vector<std::string> values;
  bool of_name = false;  // matchFields metadata.name
  bool operator==(const LabelRule&) const = default;
};

/// Alternative terms, of which one must hold. All rules of a term must hold.
using NodeTerms = std::vector<std::vector<LabelRule>>;

/// The terms of a NodeSelector, as in node affinities of pods and of volumes.
NodeTerms node_terms(const nlohmann::json& selector);
/// Whether one of the terms holds. A term without rules holds for no node.
bool is_chosen_by(const NodeTerms& terms, const NodeState& node);
/// "zone In [a, b]"
std::string text(const LabelRule& rule);

struct Toleration {
  // comparison is Equal ("" too), Exists, Gt or Lt; an empty key or effect matches all
  std::string key, comparison, value, effect;
  bool operator==(const Toleration&) const = default;
};

struct NodeFilter {
  std::vector<LabelRule> selector;  // all must hold
  NodeTerms terms;                  // one must hold, if there are any
  std::vector<Toleration> tolerations;
  std::set<std::string> excluded;  // nodes that failed before
  int oldest_driver = 0;           // least major version, checked where labels tell it; 0: any

  /// Reads a pod template, which is JSON or "". Values that don't fit a pod are skipped, because the API
  /// server's dry run refuses them.
  static NodeFilter of_template(const std::string& pod_template);

  /// Adds the demands and tolerations of `other`. Precondition: `other` has no terms.
  void join(const NodeFilter& other);

  /// Adds the demands and tolerations of `pod` that are missing here, which admission has added to the pod.
  /// Tolerations of a node's troubles (node.kubernetes.io/…) are left out, because no plan uses such a node.
  void join_admitted(const NodeFilter& pod);

  /// Demands Linux and one of these architectures, unless the template names its own; empty: no demand.
  void demand_platform(const std::vector<std::string>& architectures);

  /// Why the node can't be used; "" if it can.
  std::string refusal(const NodeState& node) const;
};

}  // namespace atl::ctl
