// Nodes for a gang's pods: for all of them, or for those alone that replace others while the rest stays where
// it is.
#pragma once

#include <string>
#include <vector>

#include "operator/api/messages.h"
#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// What the job asks of the cluster: traffic as the prepare step found it, sizes as the API server has the
/// pods, nodes that failed twice left out.
Gang gang_to_place(const Reconcile& reconcile);

/// What ranks are told of what the prepare step found: the part of the graph that each trains, the strategy
/// that was chosen for them, the graph's checksum. Without flows.
Prepared prepared_for_ranks(const Reconcile& reconcile);

/// What the prepare step chose for strategy auto, as YAML on one line; "": the manifest names a strategy.
std::string chosen_strategy(const Reconcile& reconcile);
/// Why it was; the prepare pod, whose log says so too, is gone by then. "" where there is none.
std::string reason_for_strategy(const Reconcile& reconcile);

/// The nodes by server; those whose pods are released already keep theirs.
GangPlan plan_places(const Reconcile& reconcile, const Gang& gang);

/// plan_places(), and what comes of it said in the status.
GangPlan find_places(Reconcile& reconcile);

/// Why a launcher can't stand on that node, "" where it can.
std::string why_no_launcher_on(const Reconcile& reconcile, const std::string& node);

/// A node for a launcher alone, beside the workers if it can be; "" where there is none.
std::string place_for_launcher(const Reconcile& reconcile);

}  // namespace atl::ctl
