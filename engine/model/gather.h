// The verb gather, as a model sees it: blocks of source rows, pulled one by one, and what makes sums whole where several ranks
// have a part of them.
#pragma once

#include "graph/block.h"
#include "tensor/kernels.h"

namespace atl {

/// One block of sources on its way into a sum.
struct Source {
  const Block* block = nullptr;  // destinations of this gather × these sources
  Rows rows;         // (src, in): the layer's input, before dropout. Of owned rows, halo rows, …
  int slot = 0;      // 0 … source slots − 1; the same there and back
  bool own = false;  // the pass's own rows: what gather was given, or some of it
  bool last = false;
  MatrixView d_rows;  // on the way back: (src, in), to be written in full; empty: the rows take no gradient
};

/// What the way back from a softmax reads of its destinations, and where the gradient of their scores goes.
struct SoftmaxGradient {
  ConstMatrixView scores;  // (dst, heads), or empty
  SoftmaxState state;      // as forward left it
  ConstMatrixView result;  // (dst, heads): what the kernel asks for of the result: attention_dot, or itself
  ConstMatrixView d_out;   // (dst, heads·f)
  MatrixView d_scores;     // (dst, heads): added to; or empty
};

/// Puts together what several ranks have aggregated, each over sources of its own, for the same destinations: those of all these
/// ranks (the group's), one rank's after the other's. All calls are collective over the group; matrices of the group, (its
/// destinations, …), are valid until the next transfer. (Tripathy et al. 2020, section IV-B: 1.5D.)
class Merge {
 public:
  virtual ~Merge() = default;

  /// Where this rank's sums go; undefined at first.
  virtual MatrixView sums(Index cols) = 0;
  /// Starts to bring them to the destinations' owners.
  virtual void begin_merge(MatrixView sums) = 0;
  /// own (dst, cols) becomes, or grows by, all ranks' sums of own destinations, added in a fixed order.
  virtual void end_merge(MatrixView own, bool accumulate) = 0;
  /// The way back: starts to bring the gradients of all destinations to all ranks of the group.
  virtual void begin_spread(ConstMatrixView d_own) = 0;
  virtual ConstMatrixView end_spread() = 0;

  /// What all destinations of the group bring to their softmaxes, (dst, heads) each or nothing.
  virtual ConstMatrixView scores(ConstMatrixView own) = 0;
  /// Where this rank's softmaxes go, begun; shaped like `own`.
  virtual Softmaxes softmaxes(const Softmaxes& own) = 0;
  /// `own`, begun, becomes what all ranks have of own destinations.
  virtual void merge(const Softmaxes& of_group, const Softmaxes& own) = 0;
  /// The way back: of all destinations of the group, with zeros for gradients of scores.
  virtual SoftmaxGradient spread(const SoftmaxGradient& own) = 0;
  /// own.d_scores grows by all ranks' gradients of own destinations' scores.
  virtual void add_scores(const SoftmaxGradient& of_group, const SoftmaxGradient& own) = 0;
};

/// The blocks of one gather. Rows of other ranks are on their way when it is returned: what needs none of them is computed before
/// the first next().
class Gather {
 public:
  virtual ~Gather() = default;
  /// The next block, in a fixed order, once its rows are here; null after the last one. Valid until the next call. Who begins
  /// goes on until null. On the way back asking for the next says that d_rows is final and may travel. d_rows of own rows may lie in
  /// the memory of the layer's d_out.
  virtual const Source* next() = 0;
  /// Null: what is summed over these blocks is whole.
  virtual Merge* merge() { return nullptr; }
};

/// The kernel's view of a block's arcs.
inline Arcs arcs_of(const Block& b) {
  return {b.arcs, b.dst_scale, b.src_scale};
}
/// … and of its transpose: sources receive from destinations, scales swapped.
inline Arcs transposed_arcs_of(const Block& b) {
  return {b.transpose, b.src_scale, b.dst_scale};
}

}  // namespace atl
