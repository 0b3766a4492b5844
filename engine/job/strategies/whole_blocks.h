// What strategies have in common whose ranks send their whole block of rows to all that aggregate over it
// (CAGNET, Sancus).
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "job/layout.h"
#include "job/options.h"

namespace atl {

/// Every row goes to the P/c ranks of the grid's column that takes it, at the width of each learned
/// convolution input, and comes back as a gradient from each: with c = 1, (P − 1) n f either way. With c > 1
/// what each rank has aggregated goes to the other c − 1 of its row, and gradients of it back: (c − 1) n
/// times their bytes. With recompute, once more for each forward that is repeated.
EpochTraffic block_traffic(const Options& options, const TrafficShape& shape);
/// The same by pair of ranks; whose rows read whose plays no part.
std::vector<PairBytes> block_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>& cut);

// CAGNET's arrangement of ranks (Tripathy et al. 2020, section IV-B, "1.5D"): a grid of P/c rows and c
// columns. The c ranks of a row hold c parts between them and aggregate all of their vertices; each column
// takes the rows of P/c parts to do so, so that a rank receives n/c rows in place of n. What the ranks of a
// row have summed is then added up. With c = 1 every rank stands alone and takes all parts: 1D.

struct CagnetGrid {
  int ranks = 1;
  int replication = 1;  // c; c² divides ranks

  int rows() const { return ranks / replication; }
  int row(Rank rank) const { return rank / replication; }
  Rank at(int row, int column) const { return Rank(row * replication + column); }
  /// The column that takes a rank's rows.
  int taker(Rank source) const { return source / rows(); }

  /// Blocks go round in rows() turns: whose `rank` takes in a turn, and who takes its own. Both are itself in
  /// the same turn.
  Rank source(Rank rank, int turn) const {
    return Rank(rank % replication * rows() + (row(rank) + turn) % rows());
  }
  Rank reader(Rank rank, int turn) const { return at((rank % rows() + rows() - turn) % rows(), taker(rank)); }

  /// The ranks of a rank's row, by column: those whose vertices it aggregates.
  std::vector<Rank> row_ranks(Rank rank) const;
  /// Whose rows it takes, in the order of turns; where it stands alone, apart from its own.
  std::vector<Rank> sources(Rank rank) const;
};

/// Of `cagnet` with its options, or of `sancus`, whose ranks stand alone.
CagnetGrid cagnet_grid(const Options& options, int ranks);

/// Whether c² divides `ranks`, and every c of which that holds, ascending.
bool fits_grid(int ranks, std::int64_t replication);
std::vector<int> replications_of(int ranks);

}  // namespace atl
