// A job's place in a queue of Kueue's, its Workload, and what that asks about nodes.
#pragma once

#include <optional>
#include <string>

#include "operator/controller/reconcile.h"
#include "operator/objects/names.h"

namespace atl::ctl {

inline std::string queue_of(const Reconcile& reconcile) {
  return reconcile.job().meta.label(kQueueLabel);
}

/// The object that has the Workload's name, whoever made it; null where there is none.
inline const ObjectView* place_of(const Reconcile& reconcile) {
  return reconcile.find(Kind::kWorkload, workload_name(reconcile.name()));
}

inline const ObjectView* own_place(const Reconcile& reconcile) {
  const ObjectView* place = place_of(reconcile);
  return place && is_own(place->meta, reconcile.seen) ? place : nullptr;
}

/// Whether the present attempt's ranks may run. Such an attempt is left to end where it is.
inline bool runs(const Reconcile& reconcile) {
  return reconcile.gang().is_launched && !reconcile.holds(kSuspended);
}

// request.cc

/// What the job asks of the topology of its nodes in the queue that it is in; nothing: that isn't known now.
std::optional<TopologyRequest> request_of(const Reconcile& reconcile);
/// Why Kueue takes no such request, for a message; "": it does.
std::string fault_of_request(const Reconcile& reconcile);
/// Whether the Workload has to be made again because of its request.
bool is_request_old(const Workload& workload, const Reconcile& reconcile);

}  // namespace atl::ctl
