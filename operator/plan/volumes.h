// Volumes that only some nodes can reach. A claim that is bound to a disk of one zone, or of one node, keeps
// pods that mount it there. Follows the scheduler's filter for volumes.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "job/job.h"
#include "operator/plan/node_filter.h"

namespace atl::ctl {

/// Where a claim's volume can be used.
struct ClaimPlace {
  NodeTerms terms;             // if there are any, one must hold
  std::string problem;         // why the place isn't known; then there is no plan
  bool is_of_one_pod = false;  // ReadWriteOncePod: no other pod may mount it, wherever that is

  bool reaches(const NodeState& node) const { return terms.empty() || is_chosen_by(terms, node); }
};

/// Which of a gang's pods mount a claim.
enum class Mounters { kAll, kServers, kFirstServer };

struct GangVolume {
  std::string claim;  // its name, in the job's namespace
  Mounters mounters = Mounters::kServers;
  ClaimPlace place{};  // anywhere, until it is looked up
};

/// Claims that the pods of a job mount: for its data set, its prepared graphs, its output, and in its
/// template.
std::vector<GangVolume> volumes_of(const Job& job);

/// "volume claim data is bound to zone a"
std::string text_of(const GangVolume& volume);

/// Why a gang of so many servers, and a launcher, can't mount the volume, wherever it is; "": it can.
std::string fault_of(const GangVolume& volume, std::size_t servers);

/// A PersistentVolumeClaim, as far as it tells where its volume is.
struct ClaimState {
  std::string volume;         // that it is bound to, or ""
  std::string storage_class;  // or ""
  bool is_of_one_pod = false;
};
ClaimState claim_state(const nlohmann::json& claim);

/// The nodes that can use a PersistentVolume.
NodeTerms nodes_of_volume(const nlohmann::json& volume);

/// The nodes for which a StorageClass makes volumes once a pod has a node: its allowedTopologies.
NodeTerms nodes_of_class(const nlohmann::json& storage_class);

/// A cluster's claims (by "namespace/name"), volumes and classes.
struct Storage {
  std::map<std::string, ClaimState> claims;
  std::map<std::string, NodeTerms> volumes, classes;

  /// A claim, volume or class that is missing doesn't bind a pod to nodes.
  ClaimPlace place_of(const std::string& claim) const;
};

}  // namespace atl::ctl
