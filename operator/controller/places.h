// Nodes for a gang's pods: for all of them, or only for those that replace others while the rest stays in
// place.
#pragma once

#include <string>
#include <vector>

#include "operator/api/messages.h"
#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// The nodes that the job's workers may use: what its template and its queue ask for, and what admission
/// added to pods that were made. Nodes that failed twice are excluded.
NodeFilter nodes_for_workers(const Reconcile& reconcile);

/// The job's demand on the cluster: traffic from the prepare step; what pods request, and ask of nodes, from
/// the API server.
Gang gang_to_place(const Reconcile& reconcile);

/// The prepare step's results that ranks are told: the part of the graph that each trains, the strategy that
/// was chosen for them, and the graph's checksum. Without flows.
Prepared prepared_for_ranks(const Reconcile& reconcile);

/// The strategy that the prepare step chose for auto, as YAML on one line; "": the manifest names a strategy.
std::string chosen_strategy(const Reconcile& reconcile);

/// The servers whose pods wait for a place, ascending.
std::vector<int> waiting_servers(const Reconcile& reconcile);

/// A node for each server. Servers whose pods are released keep theirs. Precondition: the launcher can run
/// where it is assigned (why_no_launcher_as_assigned()).
GangPlan plan_places(const Reconcile& reconcile, const Gang& gang);

// queue_nodes.cc: nodes that the job's queue has assigned

/// Why they can't be used, for a message; "" where they can, or where it assigned none.
std::string fault_of_assigned_nodes(const Reconcile& reconcile);
/// Whether the plan in the status puts every server on one of them.
bool is_plan_as_assigned(const Reconcile& reconcile);
/// Takes away from a part of a gang the places of pods that stay on these nodes.
void leave_to_others(Gang& part, const std::vector<std::string>& nodes);
/// Which of them the queue is about to replace, as a sentence, or "".
std::string what_is_replaced(const Reconcile& reconcile);
/// What the assignment has to do with the nodes that were just named, or "".
std::string where_assigned(const Reconcile& reconcile);
/// Why the launcher can't run on the node that it was assigned, whatever else runs there; "" where it can, or
/// where it was assigned none.
std::string why_no_launcher_as_assigned(const Reconcile& reconcile);
/// Why no node has room for a launcher beside workers that stand, for a message.
std::string why_no_launcher(const Reconcile& reconcile);

/// Calls plan_places(), and writes the outcome to the status.
GangPlan find_places(Reconcile& reconcile);

/// Why a launcher can't run on that node; "" where it can.
std::string why_no_launcher_on(const Reconcile& reconcile, const std::string& node);

/// A node for a launcher alone, beside the workers if possible; "" where there is none.
std::string place_for_launcher(const Reconcile& reconcile);

}  // namespace atl::ctl
