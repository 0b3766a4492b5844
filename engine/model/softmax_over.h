// How layers pull a softmax over their neighbours (gat, resgcn with aggregator: softmax), also where sources
// are divided among a group's ranks.
#pragma once

#include "model/gather.h"
#include "model/verbs.h"

namespace atl {

// Softmaxes over sources that are divided among a group's ranks. Each rank computes its own sources' share,
// and the destinations' owners combine the shares. They travel unrounded, because a rounding error in a
// maximum or score would change every weight by its exponential.

/// The scores of all the group's destinations for their softmaxes. `own` (dst, heads) has those of this
/// rank's destinations, or nothing, and then neither has the result. Valid until the next spread.
ConstMatrixView scores_of_group(Context& ctx, RowGroup& group, ConstMatrixView own);

/// This rank's share of the softmaxes of all the group's destinations, over its own sources. softmax_begin()
/// has begun it; `own` gives the shapes.
struct GroupSoftmaxes {
  GroupSoftmaxes(Context& ctx, RowGroup& group, const Softmaxes& own);
  /// Adds all ranks' shares to `own`, which is begun. It becomes the softmaxes of own destinations over the
  /// sources of all ranks.
  void merge_into(Context& ctx, RowGroup& group, const Softmaxes& own) const;

  MatrixView packed;  // (the group's destinations, …): maxima, sums, weighted sums side by side
  Softmaxes softmaxes;
};

/// For backward: what each rank's `own` says of its destinations, for all the group's destinations. The
/// gradients of scores are zero, to be added to.
SoftmaxGradient gradient_of_group(Context& ctx, RowGroup& group, const SoftmaxGradient& own);
/// Adds all ranks' gradients of the scores of own destinations to own.d_scores.
void add_scores(Context& ctx, RowGroup& group, const SoftmaxGradient& of_group, const SoftmaxGradient& own);

/// Softmaxes over each destination's sources. begin() begins `own` and returns the destinations' scores,
/// (dst, heads) or nothing. add(source, scores, into) adds a block.
template <class Begin, class Add>
void softmax_over(Verbs& verbs, const Rows& rows, const Softmaxes& own, Begin begin, Add add) {
  Gather& sources = verbs.gather(rows);
  const ConstMatrixView scores = begin();
  RowGroup* group = sources.group();
  if (group == nullptr) {
    while (const Source* source = sources.next()) add(*source, scores, own);
    return;
  }
  const ConstMatrixView all = scores_of_group(verbs.context(), *group, scores);
  const GroupSoftmaxes into(verbs.context(), *group, own);
  while (const Source* source = sources.next()) add(*source, all, into.softmaxes);
  into.merge_into(verbs.context(), *group, own);
}

/// The way back. visit(source, of) writes source.d_rows; `of` is what it reads of the destinations, on all
/// ranks of the group.
template <class Visit>
void softmax_back(Verbs& verbs, const Rows& rows, const SoftmaxGradient& own, MatrixView d_rows,
                  Visit visit) {
  Gather& sources = verbs.gather_back(rows, d_rows);
  RowGroup* group = sources.group();
  const SoftmaxGradient of = group == nullptr ? own : gradient_of_group(verbs.context(), *group, own);
  while (const Source* source = sources.next()) visit(*source, of);
  if (group != nullptr) add_scores(verbs.context(), *group, of, own);
}

}  // namespace atl
