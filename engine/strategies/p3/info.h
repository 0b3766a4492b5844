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
  /// The ranks that have all pieces between them, by piece, `rank` among them: each makes products whole for
  /// the others.
  std::vector<Rank> group_of(Rank rank) const;
  /// The ranks that have the same piece as `rank`, ascending.
  std::vector<Rank> same_piece(Rank rank) const;
};

/// Copies that don't divide the holders, as on fewer ranks than the job was written for: none.
ColumnGrid column_grid(const Job& job);
/// Steps between reading weights for a gradient and taking it: 0 or 3.
int pipeline_delay(const Job& job);
/// Whether a job, of any strategy, takes Adam's steps by gradients of earlier weights. For these there is a
/// rule: batches read predicted weights (strategies/p3/push_pull.h), and the optimiser knows of the delay
/// (train/optimizer.h).
bool has_late_gradients(const Job& job);
/// The highest learning rate with which the late gradients of a job, of any strategy, are known to train; 0:
/// the job's isn't above it.
double rate_of_late_gradients(const Job& job);
std::vector<Rule> p3_rules();

}  // namespace atl
