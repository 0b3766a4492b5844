// What a manifest says of strategy `p3`, as numbers: which ranks hold which columns of the features.
#pragma once

#include <vector>

#include "base/types.h"
#include "job/strategies.h"

namespace atl {

/// Features are cut into `pieces` of neighbouring columns. A holder is a server, whose ranks all have its
/// piece, or a rank; `copies` holders have the same piece (Gandhi & Iyer 2021, section 3.4). Holder h has
/// ranks h · together … and piece h mod pieces.
struct ColumnGrid {
  int together = 1;  // ranks of a holder
  int holders = 1, copies = 1;
  int pieces() const { return holders / copies; }
  int piece_of(Rank rank) const { return rank / together % pieces(); }
  /// The ranks that together have all pieces, with `rank`, in the order of pieces. They make products whole
  /// for each other.
  std::vector<Rank> group_of(Rank rank) const;
  /// The ranks that have the same piece as `rank`, ascending.
  std::vector<Rank> same_piece(Rank rank) const;
};

/// If the job's copies don't divide the holders, as on fewer ranks than it was written for, each piece has
/// one holder.
ColumnGrid column_grid(const Job& job);
/// Steps between reading weights for a gradient and taking it: 0 or 3.
int pipeline_delay(const Job& job);
/// Whether Adam's steps use late gradients: those of the weights some steps ago. If so, batches read
/// predicted weights (strategies/p3/push_pull.h), and the optimiser allows for the delay (train/optimizer.h).
/// The job may have any strategy.
bool has_late_gradients(const Job& job);
/// The highest learning rate with which the job's late gradients are known to train, if its own rate is above
/// that; otherwise 0. The job may have any strategy.
double rate_of_late_gradients(const Job& job);
std::vector<Rule> p3_rules();

}  // namespace atl
