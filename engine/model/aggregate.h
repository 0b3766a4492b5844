// How layers pull a gather: when a sum is begun, added to and made whole. The order is the same for every
// layer.
#pragma once

#include <utility>

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

/// For layers that have no own work while rows travel.
inline constexpr auto no_own_work = [] {};

/// Where a sum over neighbours goes.
struct Sum {
  MatrixView out;      // (dst, cols)
  bool begun = false;  // the layer's own work writes a first summand there
};

/// out = [first summand +] Σ over the sources. own_work() is called once, while rows of other ranks travel;
/// layers compute there what needs no such rows. add(source, into, accumulate, is_whole) writes a block's
/// sum, or adds it. is_whole: it is the last one, so that the row may be finished there. Returns whether any
/// add() was told is_whole.
template <class OwnWork, class Add>
bool sum_over(Verbs& verbs, const Rows& rows, const Sum& sum, OwnWork own_work, Add add) {
  Gather& sources = verbs.gather(rows);
  RowGroup* group = sources.group();
  if (group == nullptr) own_work();
  const MatrixView into = group == nullptr ? sum.out : group->summands(sum.out.cols);
  bool accumulate = group == nullptr && sum.begun, is_whole = false;
  while (const Source* source = sources.next()) {
    is_whole = source->last && group == nullptr;
    add(*source, into, accumulate, is_whole);
    accumulate = true;
  }
  if (!accumulate) fill(verbs.context(), 0, into);
  if (group == nullptr) return is_whole;
  group->begin_whole(into, Rounding::kByWire);
  own_work();
  end_sum(verbs.context(), *group, sum.out, sum.begun);
  return false;
}

/// The way back from d_sum (dst, cols). visit(source, d_sum) writes source.d_rows. own_work() is called once,
/// while gradients of other ranks' rows travel and before those of own rows are written.
template <class OwnWork, class Visit>
void sum_back(Verbs& verbs, const Rows& rows, ConstMatrixView d_sum, MatrixView d_rows, OwnWork own_work,
              Visit visit) {
  Gather& sources = verbs.gather_back(rows, d_rows);
  RowGroup* group = sources.group();
  bool worked = false;
  const auto work = [&] {
    if (!std::exchange(worked, true)) own_work();
  };
  if (group != nullptr) {
    begin_spread(verbs.context(), *group, d_sum, Rounding::kByWire);
    work();
    d_sum = group->end_spread();
  }
  while (const Source* source = sources.next()) {
    if (source->own || source->last) work();
    visit(*source, d_sum);
  }
  work();
}

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
