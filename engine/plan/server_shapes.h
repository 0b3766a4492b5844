// Sizes of a rank's share of its server's graph, where servers hold copies of each other's vertices
// (Strategy::server): one for each batch of the server.
#pragma once

#include <vector>

#include "partition/server_graph.h"
#include "plan/rank_shape.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// Ask for all ranks of one server before the next server's: then each server's graphs are built once.
class ServerShapes {
 public:
  /// Both arguments outlive it.
  ServerShapes(const Job& job, const PreparedGraph& prepared) : job_(job), prepared_(prepared) {}
  /// The rank's shapes, by batch.
  const std::vector<RankShape>& of(Rank rank, const GraphMarks& marks, int ranks);
  /// The largest batch of the server that was asked for last.
  std::size_t largest() const { return largest_; }
  /// How many layers read no copies, on the server that was asked for last.
  int beyond() const { return beyond_; }

 private:
  const Job& job_;
  const PreparedGraph& prepared_;
  int first_part_ = -1;  // first part of the server that shapes_ belongs to
  int beyond_ = 0;
  std::vector<std::vector<RankShape>> shapes_;  // by rank of the server, by batch
  std::size_t largest_ = 0;
};

/// In how many batches each server's vertices are trained; 1 where servers hold no copies.
int server_batches_of(const Job& job);

}  // namespace atl
