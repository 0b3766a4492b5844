// How layers pull a softmax over their neighbours (gat, resgcn with aggregator: softmax), also where sources
// are divided among a group's ranks.
#pragma once

#include "model/gather.h"
#include "model/verbs.h"

namespace atl {

// Softmaxes over sources that are divided among a group's ranks. Each rank computes its own sources' share,
// and the destinations' owners combine the shares. They travel unrounded, because a rounding error in a
// maximum or score would change every weight by its exponential.

/// The scores that all destinations of the group bring to their softmaxes, (dst, heads) of each rank, or
/// nothing. Valid until the next spread.
ConstMatrixView scores_of_group(Context& ctx, RowGroup& group, ConstMatrixView own);

/// This rank's share of the softmaxes of all the group's destinations, begun; `own` gives the shapes.
struct GroupSoftmaxes {
  GroupSoftmaxes(Context& ctx, RowGroup& group, const Softmaxes& own);
  /// `own` is begun, and becomes the softmaxes of own destinations over the sources of all ranks.
  void merge_into(Context& ctx, RowGroup& group, const Softmaxes& own) const;

  MatrixView packed;  // (the group's destinations, …): maxima, sums, weighted sums side by side
  Softmaxes softmaxes;
};

/// For the way back: own gradients of all the group's destinations, with zeros as gradients of scores.
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

/// visit(source, of) writes source.d_rows; `of` is what it reads of the destinations.
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
