// What is asked of an autoscaler for a gang: room for each server that waits for a place, and for the
// launcher.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "operator/controller/reconcile.h"
#include "operator/objects/objects.h"

namespace atl::ctl {

/// The reason of NodesRequested where an earlier request of the gang was in vain.
inline constexpr const char* kAskedAgain = "AskedAgain";

/// The room to ask for, and for how many pods; by the name of the pod or the buffer that asks.
struct Share {
  WantedRoom room;
  std::size_t pods = 1;
};
using Shares = std::map<std::string, Share>;

/// `gang`, `plan`: the whole gang, and the plan that found no places for it. Precondition: NodesRequested
/// holds.
Shares shares_of(const Reconcile& reconcile, const Gang& gang, const GangPlan& plan);

/// The servers without a place, ascending.
std::vector<std::size_t> servers_that_wait(const Reconcile& reconcile);
bool is_launcher_waiting(const Reconcile& reconcile);

/// Whether the present request is one that follows another which was in vain.
bool asks_again(const Reconcile& reconcile);

inline bool is_by_buffers(const Reconcile& reconcile) {
  return reconcile.settings.scale_up == ScaleUp::kCapacityBuffers;
}

}  // namespace atl::ctl
