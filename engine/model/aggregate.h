// Layers pull a sum over their neighbours through these functions, which fix the order in which the sum is
// begun, added to and made whole. softmax_over.h does the same for softmaxes.
#pragma once

#include <utility>

#include "model/gather.h"
#include "model/verbs.h"

namespace atl {

/// For layers that have no own work while rows travel.
inline constexpr auto no_own_work = [] {};

/// Where a sum over neighbours goes.
struct Sum {
  MatrixView out;      // (dst, cols)
  bool begun = false;  // whether the layer's own work writes a first summand into `out`
};

/// out = [first summand +] Σ over the sources. own_work() is called once, while rows of other ranks travel;
/// layers compute there what needs none of these rows. add(source, into, accumulate, is_whole) writes a
/// block's sum to `into`, or adds it if `accumulate`. If is_whole, the sums are complete after this block, so
/// add() may finish the rows. Returns whether an add() got is_whole; if not, the caller finishes the rows.
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
/// while gradients of other ranks' rows travel, and before the gradients of own rows are written.
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

}  // namespace atl
