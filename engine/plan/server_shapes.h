// A rank's share of what its server holds, where servers hold copies of each other's vertices.
#pragma once

#include <span>

#include "partition/server_graph.h"
#include "plan/rank_shape.h"

namespace atl {

/// Asked for one server's ranks after the other's, it finds each server's graph once.
class ServerShapes {
 public:
  /// Both outlive it.
  ServerShapes(const Job& job, const PreparedGraph& prepared) : job_(job), prepared_(prepared) {}
  /// induced_on: as in LocalizeOptions.
  RankShape of(Rank rank, std::span<const std::uint8_t> induced_on, int ranks);
  /// Layers that read no copies, of the last server asked for.
  int beyond() const { return beyond_; }

 private:
  const Job& job_;
  const PreparedGraph& prepared_;
  int first_part_ = -1;  // of the server that held_ is of
  int beyond_ = 0;
  ServerGraph held_;
};

}  // namespace atl
