// Finds nodes for a gang's pods: for all, or only for those that replace lost pods.
#pragma once

#include <string>
#include <vector>

#include "operator/api/messages.h"
#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// The nodes that the job's workers may use. They satisfy the template, the queue's flavor, and the rules
/// that admission added to pods which already exist. Nodes that failed twice are excluded.
NodeFilter nodes_for_workers(const Reconcile& reconcile);

/// The job's demand on the cluster. The traffic between servers comes from the prepare step. What pods
/// request, and which nodes they accept, comes from the API server where the pods exist.
Gang gang_to_place(const Reconcile& reconcile);

/// The results of the prepare step that ranks are told: each rank's part of the graph, the chosen strategy,
/// and the graph's checksum. The flows between ranks are left out.
Prepared prepared_for_ranks(const Reconcile& reconcile);

/// The strategy that the prepare step chose for auto, as YAML on one line; "" if the manifest names one.
std::string chosen_strategy(const Reconcile& reconcile);

/// The servers whose pods wait for a place, ascending.
std::vector<int> waiting_servers(const Reconcile& reconcile);

/// Plans a node for each server. Servers whose pods are released keep their nodes. Precondition: the launcher
/// can run on the node that it was assigned (why_no_launcher_as_assigned()).
GangPlan plan_places(const Reconcile& reconcile, const Gang& gang);

// queue_nodes.cc: nodes that the job's queue has assigned

/// Why the assigned nodes can't be used, for a message; "" where they can, or where the queue assigned none.
std::string fault_of_assigned_nodes(const Reconcile& reconcile);
/// Whether the plan in the status puts every server on an assigned node.
bool is_plan_as_assigned(const Reconcile& reconcile);
/// Removes from `part` the assigned places that are taken by pods which stay on `nodes`.
void leave_to_others(Gang& part, const std::vector<std::string>& nodes);
/// Which assigned nodes the queue is about to replace, as a sentence, or "".
std::string what_is_replaced(const Reconcile& reconcile);
/// How the nodes just named in a message follow from the queue's assignment, or "".
std::string where_assigned(const Reconcile& reconcile);
/// Why the launcher can't run on its assigned node, whatever else runs there; "" where it can or has none.
std::string why_no_launcher_as_assigned(const Reconcile& reconcile);
/// Why no node has room for a launcher beside the workers that are already placed, for a message.
std::string why_no_launcher(const Reconcile& reconcile);

/// Calls plan_places(), and writes the outcome to the status.
GangPlan find_places(Reconcile& reconcile);

/// Why a launcher can't run on that node; "" where it can.
std::string why_no_launcher_on(const Reconcile& reconcile, const std::string& node);

/// A node for a launcher alone, beside the workers if possible; "" where there is none.
std::string place_for_launcher(const Reconcile& reconcile);

}  // namespace atl::ctl
