// What servers hold where they hold copies of each other's vertices: counted for each rank's plan, and summed for each server.
#pragma once

#include <string>
#include <vector>

#include "plan/job_plan.h"
#include "plan/server_shapes.h"

namespace atl {

/// That each server's vertices are trained in; 1 where servers hold no copies.
int server_batches_of(const Job& job);

/// Of every server; empty: they hold no copies.
std::vector<ServerPlan> server_plans(const Job& job, const std::vector<RankPlan>& ranks);

/// A table for a terminal, or "".
std::string to_text(const std::vector<ServerPlan>& servers);
/// One line.
std::string line_of(const ServerPlan& server, int number);

}  // namespace atl
