// How good a partition is: what it makes ranks exchange, and how evenly it divides the work.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// Halo of a part: the distinct rows it reads and doesn't own. Boundary: its rows that some other part reads.
struct PartitionQuality {
  Index cut_arcs = 0;  // arcs whose ends are in different parts
  Index volume = 0;    // Σ over parts of its halo rows = rows exchanged a layer
  std::vector<Index> owned, halo, boundary, arcs, training;             // each (parts)
  double balance_vertices = 1, balance_arcs = 1, balance_training = 1;  // largest part / mean

  /// Fills the balances from the vectors.
  void set_balances();
};

/// Some lines for a terminal: totals, then a row a part.
std::string to_text(const PartitionQuality& quality);

}  // namespace atl
