// Nodes from an autoscaler for a gang that waits for room: what to ask for, for how long, and when again. A
// gated pod makes no autoscaler add nodes, and a released one has its node already. So other objects ask in
// the gang's place (objects.h): placeholder pods, or CapacityBuffers. They ask for all the room that the gang
// waits for, not only for what is missing, because they take the free room before they make the autoscaler
// add nodes.
//
// The condition NodesRequested says since when they ask. If enough nodes come in time, the gang is placed.
// Otherwise these objects are deleted, and made again after a rest. The rest is short if some nodes had come,
// so that they are still there. If none came, the rest is as long as the gang has waited so far, so requests
// become ever rarer. All of this follows from the times in the status and of the pods, so nothing else has to
// be remembered.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/pod.h"
#include "operator/objects/objects.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

/// The reasons of NodesRequested, while it is false, after a request in vain. kNoNodes: none came, or the
/// request was refused. kTooFewNodes: some came, but not enough. A time without requests follows, which is
/// short after kTooFewNodes.
inline constexpr const char *kNoNodes = "NoNodes", *kTooFewNodes = "TooFewNodes";
inline bool is_in_vain(const std::string& reason) {
  return reason == kNoNodes || reason == kTooFewNodes;
}
/// The reason of NodesRequested, while it is false, if more nodes would be of no use.
inline constexpr const char* kNotNeeded = "NotNeeded";

inline bool is_by_buffers(const Settings& settings) {
  return settings.scale_up == ScaleUp::kCapacityBuffers;
}

/// A gang for which no places were found.
struct WaitingGang {
  const GnnJob& job;
  const Settings& settings;
  const Gang& gang;  // the whole gang
  const GangPlan& plan;
  std::vector<int> servers{};                  // the servers without a place, ascending
  bool is_launcher_waiting = false;            // the launcher has no place either
  std::vector<const PodView*> placeholders{};  // the job's own
  const Condition* request = nullptr;          // NodesRequested; null: nodes were never asked for
  Moment since{};                              // since when it waits for places, or for the steps before
  std::string obstacle{};                      // why no request can be made, for a message; "": one can
  Moment now{};
};

/// Limits for how many servers nodes may be asked for, since each node costs money.
class NodeBudget {
 public:
  virtual ~NodeBudget() = default;
  /// Why nodes may not be asked for now for `servers` servers of the job. "" if they may; they count as asked
  /// for from then on.
  virtual std::string why_no_request(std::size_t servers) = 0;
};

/// The room of one object that asks, and for how many pods. The map's key is the name of the pod or the
/// buffer.
struct Share {
  WantedRoom room;
  std::size_t pods = 1;
};
using Shares = std::map<std::string, Share>;

struct NodeRequest {
  bool is_asked = false;             // whether NodesRequested holds now
  std::string reason, message;       // those of NodesRequested; reason "": no change
  std::string words;                 // added to the message of Placed, or ""
  Shares shares;                     // the objects that ask from now on; all others go
  std::optional<Moment> look_again;  // when to look again, if only time changes this
};

/// Decides about the request. Pure, except for the budget, which is asked last.
NodeRequest request_for(const WaitingGang& waiting, NodeBudget& budget);

}  // namespace atl::ctl
