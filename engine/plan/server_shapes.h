// A rank's shares of what its server holds at a time, where servers hold copies of each other's vertices
// (Strategy::server).
#pragma once

#include <vector>

#include "partition/server_graph.h"
#include "plan/rank_shape.h"
#include "strategies/schedule/strategy.h"

namespace atl {

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

/// Batches in which each server's vertices are trained; 1 where servers hold no copies.
int server_batches_of(const Job& job);

}  // namespace atl
