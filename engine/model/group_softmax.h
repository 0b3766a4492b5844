// Softmaxes over sources that the ranks of a group share: each rank has what its own sources come to, and the destinations' owners put it
// together. They cross unrounded: a rounded maximum or score would change every weight by its own error, exp of it.
#pragma once

#include "model/gather.h"

namespace atl {

/// What all destinations of the group bring to their softmaxes, (dst, heads) each or nothing. Valid until the next spread.
ConstMatrixView scores_of_group(Context& ctx, RowGroup& group, ConstMatrixView own);

/// This rank's softmaxes of all destinations of the group, begun; shaped like `own`.
struct GroupSoftmaxes {
  GroupSoftmaxes(Context& ctx, RowGroup& group, const Softmaxes& own);
  /// `own`, begun, becomes what all ranks have of own destinations.
  void merge_into(Context& ctx, RowGroup& group, const Softmaxes& own) const;

  MatrixView packed;  // (the group's destinations, …): maxima, sums, what is weighed, side by side
  Softmaxes softmaxes;
};

/// The way back: of all destinations of the group, with zeros for gradients of scores.
SoftmaxGradient gradient_of_group(Context& ctx, RowGroup& group, const SoftmaxGradient& own);
/// own.d_scores grows by all ranks' gradients of own destinations' scores.
void add_scores(Context& ctx, RowGroup& group, const SoftmaxGradient& of_group, const SoftmaxGradient& own);

}  // namespace atl
