// What servers hold where they hold copies of each other's vertices: counted for each rank's plan, and summed for each server.
#pragma once

#include <string>
#include <vector>

#include "partition/server_graph.h"
#include "plan/job_plan.h"
#include "plan/rank_shape.h"
#include "strategies/schedule/strategy.h"

namespace atl {

// A rank's shares of what its server holds at a time, where servers hold copies of each other's vertices.

/// Asked for one server's ranks after the other's, it finds each server's graphs once.
class ServerShapes {
 public:
  /// Both outlive it.
  ServerShapes(const Job& job, const PreparedGraph& prepared) : job_(job), prepared_(prepared) {}
  /// By batch.
  const std::vector<RankShape>& of(Rank rank, const GraphMarks& marks, int ranks);
  /// The batch of which the server of the last rank asked for holds most.
  std::size_t largest() const { return largest_; }
  /// Layers that read no copies, of the last server asked for.
  int beyond() const { return beyond_; }

 private:
  const Job& job_;
  const PreparedGraph& prepared_;
  int first_part_ = -1;  // of the server that shapes_ are of
  int beyond_ = 0;
  std::vector<std::vector<RankShape>> shapes_;  // by rank of the server, by batch
  std::size_t largest_ = 0;
};

/// That each server's vertices are trained in; 1 where servers hold no copies.
int server_batches_of(const Job& job);

/// Of every server; empty: they hold no copies.
std::vector<ServerPlan> server_plans(const Job& job, const std::vector<RankPlan>& ranks);

/// A table for a terminal, or "".
std::string to_text(const std::vector<ServerPlan>& servers);
/// One line.
std::string line_of(const ServerPlan& server, int number);

}  // namespace atl
