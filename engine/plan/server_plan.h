// What servers hold where they hold copies of each other's vertices: counted for each rank's plan, and summed for each server.
#pragma once

#include <string>
#include <vector>

#include "partition/server_graph.h"
#include "plan/job_plan.h"

namespace atl {

/// A rank's share of what its server holds. Asked for one server's ranks after the other's, it finds each server's graph once.
class ServerShapes {
 public:
  /// Both outlive it.
  ServerShapes(const Job& job, const PreparedGraph& prepared) : job_(job), prepared_(prepared) {}
  /// induced_on: as in LocalizeOptions.
  RankShape of(Rank rank, std::span<const std::uint8_t> induced_on, int ranks);

 private:
  const Job& job_;
  const PreparedGraph& prepared_;
  int first_part_ = -1;  // of the server that held_ is of
  ServerGraph held_;
};

/// Of every server; empty: they hold no copies.
std::vector<ServerPlan> server_plans(const Job& job, const std::vector<RankPlan>& ranks);

/// A table for a terminal, or "".
std::string to_text(const std::vector<ServerPlan>& servers);
/// One line.
std::string line_of(const ServerPlan& server, int number);

}  // namespace atl
