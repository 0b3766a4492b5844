// Common code of strategies whose ranks send their whole block of rows to all ranks that aggregate over it
// (CAGNET, Sancus).
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "job/layout.h"
#include "job/options.h"

namespace atl {

/// The bytes of P ranks with n vertices, f columns over all learned convolution inputs, and replication c.
/// Each row goes to the P/c ranks of one column of the grid, and a gradient comes back from each of them:
/// with c = 1, (P − 1) n f either way. With c > 1 each rank also sends partial sums to the c − 1 other ranks
/// of its grid row, and gradients come back: (c − 1) n times the bytes of a row's sums. Recompute adds the
/// forward bytes again for each repeated forward.
EpochTraffic block_traffic(const Options& options, const TrafficShape& shape);
/// The same by pair of ranks. It doesn't depend on which rows read which.
std::vector<PairBytes> block_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>& cut);

// CAGNET's arrangement of ranks (Tripathy et al. 2020, section IV-B, "1.5D"): a grid of P/c rows and c
// columns. The c ranks of a row hold c parts together and aggregate for all of their vertices. Each column
// takes the rows of P/c parts for this, so that a rank receives n/c rows instead of n. Then the partial sums
// of a row's ranks are added up. With c = 1 each row has a single rank, which takes all parts: 1D.

struct CagnetGrid {
  int ranks = 1;
  int replication = 1;  // c; c² divides ranks

  int rows() const { return ranks / replication; }
  int row(Rank rank) const { return rank / replication; }
  Rank at(int row, int column) const { return Rank(row * replication + column); }
  /// The column that takes a rank's rows.
  int taker(Rank source) const { return source / rows(); }

  /// Blocks go round in rows() turns. source() is the rank whose block `rank` takes in a turn; reader() is
  /// the rank that takes `rank`'s block. Both are `rank` itself in the same turn.
  Rank source(Rank rank, int turn) const {
    return Rank(rank % replication * rows() + (row(rank) + turn) % rows());
  }
  Rank reader(Rank rank, int turn) const { return at((rank % rows() + rows() - turn) % rows(), taker(rank)); }

  /// The ranks of a rank's grid row, by column. The rank aggregates for the vertices of all of them.
  std::vector<Rank> row_ranks(Rank rank) const;
  /// The ranks from which `rank` takes rows, in the order of turns. With c = 1 it isn't among them.
  std::vector<Rank> sources(Rank rank) const;
};

/// The grid of `cagnet` with its options, or of `sancus`, whose grid rows have one rank each. If cagnet's
/// replication doesn't fit `ranks`, as in prediction on another number of ranks, c is 1.
CagnetGrid cagnet_grid(const Options& options, int ranks);

/// fits_grid(): whether c² divides `ranks`. replications_of(): all c for which it does, ascending.
bool fits_grid(int ranks, std::int64_t replication);
std::vector<int> replications_of(int ranks);

}  // namespace atl
