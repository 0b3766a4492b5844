// The inner loops that exist once per instruction set: what they are given (plain pointers, so that nothing
// shared is instantiated in them) and the table by which the operations in tensor/cpu/*.cc reach the best
// one. Every loop does a range of rows, begin ≤ row < end; the range is a chunk, and chunks run on the pool's
// threads.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace atl::simd {

/// A Dropout. threshold 0 means none.
struct Mask {
  std::uint32_t threshold = 0;
  Real scale = 1;
  std::uint64_t key = 0;          // Draws::key()
  const VertexId* ids = nullptr;  // (rows)
  std::uint32_t first_column = 0;
  Index begin = 0, end = Index(~std::uint64_t(0) >> 1);  // of the rows; the others stay as they are
  bool has(Index row) const __attribute__((always_inline)) { return begin <= row && row < end; }
  /// Of rows that are counted from `row` on.
  Mask from(Index row) const __attribute__((always_inline)) {
    Mask rest = *this;
    if (ids != nullptr) rest.ids += row;
    rest.begin -= row, rest.end -= row;
    return rest;
  }
};

/// Bfloat16, or const as T is.
template <class T>
struct HalfOf {
  using Type = Bfloat16;
};
template <class T>
struct HalfOf<const T> {
  using Type = const Bfloat16;
};

/// Rows of a matrix without its shape; where they are stored in halves, `data` is null.
template <class T>
struct Strided {
  T* data = nullptr;
  Index stride = 0;
  typename HalfOf<T>::Type* halves = nullptr;
  T* row(Index r) const __attribute__((always_inline)) { return data + r * stride; }
  explicit operator bool() const __attribute__((always_inline)) {
    return data != nullptr || halves != nullptr;
  }
};
using In = Strided<const Real>;
using Out = Strided<Real>;

/// An Epilogue. Null pointers stand for what isn't there.
struct Finish {
  const Real* bias = nullptr;  // (cols), as the four below
  const Real* gain = nullptr;
  const Real* shift = nullptr;
  const Real* col_mean = nullptr;
  const Real* col_rstd = nullptr;
  bool layer_norm = false, batch_norm = false;
  Out row_stats;  // (rows, 2)
  In residual;    // (rows, cols)
  Real residual_scale = 1;
  int activation = 0;  // an Activation
  Mask mask;
  bool nothing = true;  // none of the above: the loop need not be called
};

/// Backward of a Finish, halves too: dy from the gradient at its output to the gradient at its input, in
/// place.
struct FinishBackward {
  Finish finish;
  In pre, y;
  Out dy;
  Out residual;                        // += residual_scale · the gradient before it, or empty
  const Real* col_mean_dy = nullptr;   // (cols) batch norm: mean over all rows of dŷ
  const Real* col_mean_dyx = nullptr;  // (cols) and of dŷ·x̂
  Index cols = 0;
};
/// Sums over a chunk's rows, each (cols), written; null where nobody asks.
struct FinishSums {
  Real* bias = nullptr;
  Real* gain = nullptr;
  Real* shift = nullptr;
};

/// How the values of a sparse row's arcs are masked: by nothing, by draws keyed (row, column) or (column,
/// row).
enum class ArcMask { kNone, kByRow, kByColumn };

// A loop takes halves where it says so.

/// (x, out and the finish's residual: halves too)
/// out[i, c] (+)= row_scale[i] Σ_e value[e] · col_scale[j_e] · x[j_e, c], value being weight and mask.
struct Spmm {
  const Index* offsets = nullptr;
  const VertexId* columns = nullptr;
  const float* weights = nullptr;
  const Real* row_scale = nullptr;
  const Real* col_scale = nullptr;
  ArcMask arc_mask = ArcMask::kNone;
  Mask mask;
  Index first_row = 0;  // what the first is to draws
  In x;
  Out out;
  bool accumulate = false;
  Finish finish;
};

/// out[r, c] (+)= Σ_i a[r, i] · w[i, c], then the finish; w as pack_panels left it.
struct Product {
  In a;
  Index inner = 0, cols = 0;
  const Real* panels = nullptr;
  Out out;
  bool accumulate = false;
  Finish finish;
};
/// out[r, c] (+)= row_scale[r] Σ_i bit(r, i) · inner_scale[i] · x[i, c], then the finish.
struct BitProduct {
  const std::uint32_t* words = nullptr;  // (rows, ⌈inner / 32⌉), of zeros behind the last bit
  Index inner = 0, cols = 0;
  In x;
  const Real* inner_scale = nullptr;
  const Real* row_scale = nullptr;
  Out out;
  bool accumulate = false;
  Finish finish;
};
/// out[k, c] (+)= Σ_r a[r, k] · b[r, c] over the rows of one call.
struct ProductAt {
  In a, b;
  Index a_cols = 0, b_cols = 0;
  Out out;
  bool accumulate = false;
};

/// A Product whose `a` is in halves, and whose w is what pack_pairs left.
struct ProductPairs {
  In a;
  Index inner = 0, cols = 0;
  const std::uint32_t* panels = nullptr;
  Out out;
  bool accumulate = false;
  Finish finish;
};
/// A ProductAt of halves. `words`: room for kPairedRows / 2 · words_step() of the thread's own.
struct ProductAtPairs {
  In a, b;
  Index a_cols = 0, b_cols = 0;
  Out out;
  bool accumulate = false;
  std::uint32_t* words = nullptr;
  Index words_step() const __attribute__((always_inline)) { return (a_cols + 15) / 16 * 16; }
};
inline constexpr Index kPairedRows = 256;

/// Loops of processors that multiply pairs of halves.
struct PairLoops {
  Index (*pair_words)(Index inner, Index cols);
  void (*pack_pairs)(In w, bool transposed, Index inner, Index cols, std::uint32_t* words);
  void (*product_pairs)(const ProductPairs&, Index begin, Index end);
  void (*product_at_pairs)(const ProductAtPairs&, Index begin, Index end);
};

inline constexpr Index kMostHeads = 256;

struct Attend {
  const Index* offsets = nullptr;  // dst rows, or src rows in the backward pass
  const VertexId* columns = nullptr;
  const float* weights = nullptr;
  const Index* arc_of = nullptr;  // backward: place of each arc in the forward order
  Index heads = 1, width = 1;     // width: columns of one head
  Real slope = 0;
  Mask mask;  // mask.ids unused
  const VertexId *dst_ids = nullptr, *src_ids = nullptr;
  In z, dst_score, src_score;
  Out max, sum, out;  // forward writes; backward only reads max and sum
  In dot, d_out;
  Out packed;  // (dst, 4 · heads): score, maximum, 1 / sum and dot of each destination side by side
  Out d_z, d_src_score, d_dst_score;
  Real* d_score = nullptr;  // (arcs, heads) in forward order
};

/// product[r, head] = <x[r, head], y[r, head]>. A stride of 0 gives every row the same y.
struct HeadDot {
  Index heads = 1, width = 1;
  In x, y;
  Out product;  // or its gradient
  Out d_x;      // backward: added to
};

struct SoftmaxSum {
  const Index* offsets = nullptr;
  const VertexId* columns = nullptr;
  const float* weights = nullptr;
  Real t = 1;
  Index cols = 0;
  In m;
  Out max, sum, out;
  In d_out;
  Out d_m;
};

struct CrossEntropy {
  In logits;
  Index classes = 0;
  const VertexId* rows = nullptr;  // begin and end count these
  const std::int32_t* labels = nullptr;
  const std::uint8_t* targets = nullptr;  // binary: (n, classes) of 0 and 1
  Index targets_stride = 0;
  Real scale = 1;
  Out d_logits;
};

/// Adam's or AdamW's step with what is the same for all elements worked out.
struct Adam {
  Real learning_rate;      // over (1 − β₁ᵗ)
  Real second_correction;  // 1 / √(1 − β₂ᵗ)
  Real beta1, beta2, epsilon;
  Real decay;            // added to the gradient, times the weight
  Real decoupled_decay;  // factor of the weight
  const Real* gradient;
  Real *m, *v, *weight;
};

/// One instruction set's loops.
struct Table {
  const char* name;
  void (*spmm)(const Spmm&, Index begin, Index end, Index col_begin, Index col_end);
  Index (*panel_elements)(Index inner, Index cols);
  void (*pack_panels)(In w, bool transposed, Index inner, Index cols, Real* panels);
  void (*product)(const Product&, Index begin, Index end);
  void (*product_at)(const ProductAt&, Index begin, Index end);
  void (*bit_product)(const BitProduct&, Index begin, Index end);
  /// Halves too, as the five behind it.
  void (*finish)(const Finish&, Out y, Index begin, Index end, Index col_begin, Index col_end);
  void (*finish_backward)(const FinishBackward&, const FinishSums&, Index begin, Index end);
  void (*norm_sums)(const FinishBackward&, double* sums, Index begin, Index end);
  void (*column_sums)(In x, Index cols, double* sums, bool squares, Index begin, Index end);
  /// x and out begin at column `first` of the matrix whose draws they are.
  void (*dropout)(const Mask&, In x, Out out, Index first, Index cols, Index begin, Index end);
  void (*axpby)(Real a, In x, Real b, Out out, Index cols, Index begin, Index end);
  void (*gather)(In x, const VertexId* index, Out out, Index cols, Index begin, Index end);
  void (*scatter_add)(In x, const VertexId* index, Out out, Index cols, Index begin, Index end);
  void (*attend)(const Attend&, Index begin, Index end);
  void (*pack_scores)(const Attend&, Index begin, Index end);  // before attend_backward, over destinations
  void (*attend_backward)(const Attend&, Index begin, Index end);
  void (*add_arc_scores)(const Attend&, Index begin, Index end);  // after it, over destinations
  void (*head_dot)(const HeadDot&, Index begin, Index end);
  void (*head_dot_backward)(const HeadDot&, Real* d_y, Index begin, Index end);
  void (*softmax_sum)(const SoftmaxSum&, Index begin, Index end);
  void (*softmax_sum_backward)(const SoftmaxSum&, Index begin, Index end);
  double (*cross_entropy)(const CrossEntropy&, Index begin, Index end);
  double (*binary_cross_entropy)(const CrossEntropy&, Index begin, Index end);
  void (*adam)(const Adam&, Index begin, Index end);
  double (*squared_norm)(const Real* x, Index begin, Index end);
  Index (*count_non_finite)(In x, Index cols, Index begin, Index end);
};

/// The best table that this machine can run; ATOLL_ISA=baseline|avx2|avx512 in the environment asks for a
/// lesser one (what is unknown or unavailable fails).
const Table& loops();
/// Of loops()'s instruction set on this processor; null: it multiplies Reals alone.
const PairLoops* pair_loops();
/// The table of that name, or null where this machine cannot run it.
const Table* table_named(const char* name);
/// From now on loops() is `table`: for tests, which try every one. Not while kernels run.
void use(const Table& table);

}  // namespace atl::simd
