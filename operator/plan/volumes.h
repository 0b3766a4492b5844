// Volumes that only some nodes can reach. A claim may be bound to a disk of one zone or one node; pods that
// mount it must run there. Follows the scheduler's filter for volumes.
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
  NodeTerms terms;             // one must hold, if there are any
  std::string problem;         // why that isn't known; the gang then gets no plan
  bool is_of_one_pod = false;  // ReadWriteOncePod: no other pod may mount it anywhere

  bool reaches(const NodeState& node) const { return terms.empty() || is_chosen_by(terms, node); }
};

/// Which of a gang's pods mount a claim.
enum class Mounters { kAll, kServers, kFirstServer };

struct GangVolume {
  std::string claim;  // the claim's name, in the job's namespace
  Mounters mounters = Mounters::kServers;
  ClaimPlace place{};  // filled in when it is looked up; until then any node
};

/// The claims that a job's pods mount: for its data set, its prepared graphs, its output, and those in its
/// template.
std::vector<GangVolume> volumes_of(const Job& job);

/// "volume claim data is bound to zone a"
std::string text_of(const GangVolume& volume);

/// Why a launcher and `servers` servers can't all mount the volume, on any nodes; "" if they can.
std::string fault_of(const GangVolume& volume, std::size_t servers);

/// What a PersistentVolumeClaim tells about where its volume is.
struct ClaimState {
  std::string volume;         // the name of the volume that it is bound to, or ""
  std::string storage_class;  // or ""
  bool is_of_one_pod = false;
};
ClaimState claim_state(const nlohmann::json& claim);

/// The nodes that can use a PersistentVolume.
NodeTerms nodes_of_volume(const nlohmann::json& volume);

/// The nodes for which a StorageClass can make volumes once a pod has a node: its allowedTopologies.
NodeTerms nodes_of_class(const nlohmann::json& storage_class);

/// A cluster's claims (by "namespace/name"), volumes and storage classes.
struct Storage {
  std::map<std::string, ClaimState> claims;
  std::map<std::string, NodeTerms> volumes, classes;

  /// A claim, volume or class that is missing doesn't bind a pod to nodes.
  ClaimPlace place_of(const std::string& claim) const;
};

}  // namespace atl::ctl
