// The inner loops, which exist once per instruction set. Here are their arguments, as plain pointers, so that
// nothing shared is instantiated in the loops, and the table by which the operations in tensor/cpu/*.cc reach
// the best version. Every loop does a range of rows, begin ≤ row < end. The range is a chunk, and chunks run
// on the pool's threads.
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
  Index begin = 0, end = Index(~std::uint64_t(0) >> 1);  // masked rows; other rows stay as they are
  bool has(Index row) const __attribute__((always_inline)) { return begin <= row && row < end; }
  /// The mask for rows that are counted from `row` on.
  Mask from(Index row) const __attribute__((always_inline)) {
    Mask rest = *this;
    if (ids != nullptr) rest.ids += row;
    rest.begin -= row, rest.end -= row;
    return rest;
  }
};

/// Bfloat16, const if T is.
template <class T>
struct HalfOf {
  using Type = Bfloat16;
};
template <class T>
struct HalfOf<const T> {
  using Type = const Bfloat16;
};

/// Rows of a matrix without its shape. If they are stored in halves, `data` is null.
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

/// An Epilogue. Null pointers stand for absent parts.
struct Finish {
  const Real* bias = nullptr;  // (cols), like the four below
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

/// Backward of a Finish, in either storage: turns dy from the gradient at its output into the gradient at its
/// input, in place.
struct FinishBackward {
  Finish finish;
  In pre, y;
  Out dy;
  Out residual;                        // += residual_scale · the gradient at the residual; or empty
  const Real* col_mean_dy = nullptr;   // (cols) batch norm: mean over all rows of dŷ
  const Real* col_mean_dyx = nullptr;  // (cols) batch norm: mean over all rows of dŷ·x̂
  Index cols = 0;
};
/// Sums over a chunk's rows, each (cols), overwritten; null: not wanted.
struct FinishSums {
  Real* bias = nullptr;
  Real* gain = nullptr;
  Real* shift = nullptr;
};

/// How the values of a sparse row's arcs are masked: not at all, or by draws keyed (row, column) or (column,
/// row).
enum class ArcMask { kNone, kByRow, kByColumn };

// A loop takes halves only if its comment says so.

/// out[i, c] (+)= row_scale[i] Σ_e value[e] · col_scale[j_e] · x[j_e, c], where value is weight times mask.
/// x, out and the finish's residual may be in halves.
struct Spmm {
  const Index* offsets = nullptr;
  const VertexId* columns = nullptr;
  const float* weights = nullptr;
  const Real* row_scale = nullptr;
  const Real* col_scale = nullptr;
  ArcMask arc_mask = ArcMask::kNone;
  Mask mask;
  Index first_row = 0;  // number of the first row in draws
  In x;
  Out out;
  bool accumulate = false;
  Finish finish;
};

/// out[r, c] (+)= Σ_i a[r, i] · w[i, c], then the finish. w is in the form that pack_panels makes.
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
  const std::uint32_t* words = nullptr;  // (rows, ⌈inner / 32⌉), with zeros after the last bit
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

/// A Product whose `a` is in halves, and whose w is in the form that pack_pairs makes.
struct ProductPairs {
  In a;
  Index inner = 0, cols = 0;
  const std::uint32_t* panels = nullptr;
  Out out;
  bool accumulate = false;
  Finish finish;
};
/// A ProductAt of halves. `words` is scratch of the thread's own, kPairedRows / 2 · words_step() words.
struct ProductAtPairs {
  In a, b;
  Index a_cols = 0, b_cols = 0;
  Out out;
  bool accumulate = false;
  std::uint32_t* words = nullptr;
  Index words_step() const __attribute__((always_inline)) { return (a_cols + 15) / 16 * 16; }
};
inline constexpr Index kPairedRows = 256;

/// The loops for processors that multiply pairs of halves. The last two levels (avx512bf16, amx) have them,
/// and each packs in its own way.
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
  Out packed;  // (dst, 4 · heads): score, maximum, 1 / sum and dot of each destination, adjacent
  Out d_z, d_src_score, d_dst_score;
  Real* d_score = nullptr;  // (arcs, heads) in forward order
};

/// product[r, head] = <x[r, head], y[r, head]>. With a stride of 0 all rows have the same y.
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

/// Adam's or AdamW's step, with the factors that are the same for all elements.
struct Adam {
  Real learning_rate;      // divided by (1 − β₁ᵗ)
  Real second_correction;  // 1 / √(1 − β₂ᵗ)
  Real beta1, beta2, epsilon;
  Real decay;            // added to the gradient, times the weight
  Real decoupled_decay;  // factor of the weight
  const Real* gradient;
  Real *m, *v, *weight;
};

/// The loops of one instruction set.
struct Table {
  const char* name;
  void (*spmm)(const Spmm&, Index begin, Index end, Index col_begin, Index col_end);
  Index (*panel_elements)(Index inner, Index cols);
  void (*pack_panels)(In w, bool transposed, Index inner, Index cols, Real* panels);
  void (*product)(const Product&, Index begin, Index end);
  void (*product_at)(const ProductAt&, Index begin, Index end);
  void (*bit_product)(const BitProduct&, Index begin, Index end);
  /// This loop and the five below take halves.
  void (*finish)(const Finish&, Out y, Index begin, Index end, Index col_begin, Index col_end);
  void (*finish_backward)(const FinishBackward&, const FinishSums&, Index begin, Index end);
  void (*norm_sums)(const FinishBackward&, double* sums, Index begin, Index end);
  void (*column_sums)(In x, Index cols, double* sums, bool squares, Index begin, Index end);
  /// x and out begin at column `first` of the matrix to which the draws belong.
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
  /// Works in registers alone, for a measurement. Returns the number of operations; `left` is written so that
  /// the compiler keeps them.
  Index (*multiply_adds)(Index rounds, Real* left);
  const PairLoops* pairs = nullptr;  // null: these processors multiply only Reals
};

/// The best table that this machine can run. ATOLL_ISA=baseline|avx2|avx512|avx512bf16|amx in the environment
/// asks for a lesser one; an unknown or unavailable one fails.
const Table& loops();
/// The table of that name; null: this machine cannot run it.
const Table* table_named(const char* name);
/// Makes loops() return `table`, for tests, which try every one. Don't call it while kernels run.
void use(const Table& table);

}  // namespace atl::simd
