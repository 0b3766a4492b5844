// Nodes for a gang that waits for room, from an autoscaler: what to ask for, for how long, and when again. A
// gated pod makes no autoscaler add nodes, and a released one has its node already. So something asks in the
// gang's place (objects.h): placeholder pods, or CapacityBuffers. It asks for all that waits, not for what is
// missing: what asks takes room that is there before it makes the autoscaler add any.
//
// NodesRequested says since when. Enough nodes come in time, and the gang is placed; or what asked is taken
// back, and asks again: soon if some had come, so that they are still there, else after as long as the gang
// has waited by then, so ever less often. All of this can be told from the times in the status and of the
// pods, so nothing is remembered.
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

/// The reasons against NodesRequested where it was in vain: none came or asking was refused; or some came,
/// but too few. A time without requests follows, which is short after the second.
inline constexpr const char *kNoNodes = "NoNodes", *kTooFewNodes = "TooFewNodes";
inline bool is_in_vain(const std::string& reason) {
  return reason == kNoNodes || reason == kTooFewNodes;
}
/// The reason against it where more nodes are of no use.
inline constexpr const char* kNotNeeded = "NotNeeded";

inline bool is_by_buffers(const Settings& settings) {
  return settings.scale_up == ScaleUp::kCapacityBuffers;
}

/// A gang for which no places were found.
struct WaitingGang {
  const GnnJob& job;
  const Settings& settings;
  const Gang& gang;  // all of it
  const GangPlan& plan;
  std::vector<int> servers{};                  // those without a place, ascending
  bool is_launcher_waiting = false;            // the launcher has none either
  std::vector<const PodView*> placeholders{};  // the job's own
  const Condition* request = nullptr;          // NodesRequested; null: nothing was ever asked for
  Moment since{};          // since when it waits for places, or for what comes before them
  std::string obstacle{};  // why nothing can ask, for a message; "": it can
  Moment now{};
};

/// Says for how many servers nodes may be asked for, since each node costs money.
class NodeBudget {
 public:
  virtual ~NodeBudget() = default;
  /// Why nodes may not be asked for now, for so many of the job's servers; "": they may. From then on they
  /// count as asked for.
  virtual std::string why_no_request(std::size_t servers) = 0;
};

/// The room to ask for, and for how many pods; by the name of the pod or the buffer that asks.
struct Share {
  WantedRoom room;
  std::size_t pods = 1;
};
using Shares = std::map<std::string, Share>;

struct NodeRequest {
  bool is_asked = false;             // whether NodesRequested holds from now on
  std::string reason, message;       // of that; no reason: the condition stays as it is
  std::string words;                 // to add to the reasons against Placed, or ""
  Shares shares;                     // what asks from now on, and nothing else
  std::optional<Moment> look_again;  // when time alone changes this
};

/// Pure, but for the budget, which is asked last.
NodeRequest request_for(const WaitingGang& waiting, NodeBudget& budget);

}  // namespace atl::ctl
