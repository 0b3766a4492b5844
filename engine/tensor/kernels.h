// The catalogue of every operation, with its shapes. What is declared here is defined in
// tensor/dispatch/<group>.cc: it checks the arguments and calls the kernel of the context's device
// (tensor/backend.h). tensor/cpu/<group>.cc holds the CPU's. tests/unit/tensor/reference says in a few plain
// loops what each computes, and tests compare the kernels of every device with it.
//
// These rules hold for all operations:
//  - Views are (rows, cols); a comment gives each operand's shape. Outputs alias no inputs unless it says so.
//  - Operands, and numbers that a kernel leaves, are in the memory of ctx's device: the host waits for none.
//  - Shapes are checked (ATOLL_CHECK); data never is: ids and offsets were validated when the graph was read.
//  - Nothing is allocated but through ctx.workspace, so a second call with the same shapes allocates nothing.
//  - Results don't depend on the number of threads: work is cut into chunks by shape alone, partial sums are
//    added in chunk order, and no two chunks add to the same element.
//  - A call is done in the order of ctx's stream; on a CPU it returns when the work is done.
#pragma once

#include <span>
#include <string_view>

#include "base/random.h"
#include "tensor/activation.h"
#include "tensor/context.h"
#include "tensor/dropout.h"
#include "tensor/matrix.h"
#include "tensor/rows.h"

namespace atl {

// ---- shared argument types -------------------------------------------------------------------------------

/// A normalised adjacency: y = diag(row_scale) · A · diag(col_scale) · x.
struct Arcs {
  CsrView csr;
  const Real* row_scale = nullptr;  // (csr.rows) or null for 1
  const Real* col_scale = nullptr;  // (csr.cols) or null for 1
};

/// Operations on each finished row of a product, while it is still in cache:
/// y ← dropout(act(norm(y + bias) + residual_scale · residual)).
/// Layer norm writes (mean, 1/σ) per row if `row_stats` is given. Batch norm needs `col_mean` and `col_rstd`
/// over all ranks. gain and shift belong to whichever norm is used.
struct Epilogue {
  const Real* bias = nullptr;  // (cols)
  enum class Norm { kNone, kLayer, kBatch } norm = Norm::kNone;
  const Real* gain = nullptr;      // (cols)
  const Real* shift = nullptr;     // (cols)
  const Real* col_mean = nullptr;  // (cols) batch norm
  const Real* col_rstd = nullptr;  // (cols) batch norm
  MatrixView row_stats = {};       // (rows, 2) layer norm's mean and 1/σ, written when not empty
  ConstMatrixView residual = {};   // (rows, cols) or empty
  Real residual_scale = 1;
  Activation activation = Activation::kNone;
  Dropout dropout = {};
};

// ---- aggregate.cc: sums over neighbours ------------------------------------------------------------------

/// out (+)= diag(row_scale) A diag(col_scale) x.  x (csr.cols, f), out (csr.rows, f). `accumulate` adds to
/// what out holds and doesn't touch rows without arcs; otherwise these become 0. The epilogue is applied to
/// all finished rows, also to those without arcs. {.dropout = d} with the ids of out's rows is the backward
/// of a dropout before the aggregation.
void spmm(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate = false,
          const Epilogue& epilogue = {});

// ---- gemm.cc ---------------------------------------------------------------------------------------------

/// out = a · w (+ out if accumulate), then the epilogue on each row.  a (n, k), w (k, m), out (n, m).
void gemm(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate = false,
          const Epilogue& epilogue = {});
/// out (+)= a · wᵀ.  a (n, k), w (m, k), out (n, m). `after` masks the finished rows (see spmm).
void gemm_bt(Context& ctx, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate = false,
             const Dropout& after = {});
/// out (+)= dropout(a)ᵀ · b, the weight gradient.  a (n, k), b (n, m), out (r, m): rows first … first + r − 1
/// of the k.
void gemm_at(Context& ctx, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate = false, Index first = 0);

// ---- aggregate.cc: input features kept as CSR, optionally with dropout on their values

/// out = dropout(x) · w, then the epilogue.  x (n, F) sparse, w (F, m), out (n, m).
void sparse_gemm(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView w, MatrixView out,
                 const Epilogue& epilogue = {});
/// out (+)= dropout(x)ᵀ · b.  x (n, F) sparse, b (n, m), out (r, m): rows first … first + r − 1 of the F.
void sparse_gemm_at(Context& ctx, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate = false, Index first = 0);

// ---- bit_features.cc: input features kept as bits

/// out = x · w (+ out if accumulate), then the epilogue.  x (n, F) bits, w (F, m), out (n, m).
void bit_gemm(Context& ctx, const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate = false,
              const Epilogue& epilogue = {});
/// out (+)= xᵀ · b.  x (n, F) bits, b (n, m), out (r, m): rows first … first + r − 1 of the F.
void bit_gemm_at(Context& ctx, const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate = false,
                 Index first = 0);

// ---- rowwise.cc ------------------------------------------------------------------------------------------

/// The epilogue on its own: y = epilogue(x).  x (n, m), y (n, m), which may be x.
void apply(Context& ctx, const Epilogue& epilogue, ConstMatrixView x, MatrixView y);

/// Gradients of the epilogue's parameters, added to what is there; null: none.
struct EpilogueGradient {
  Real* bias = nullptr;      // (cols)
  Real* gain = nullptr;      // (cols)
  Real* shift = nullptr;     // (cols)
  MatrixView residual = {};  // (rows, cols) += residual_scale · dy, or empty
};
/// Backward of `apply`.  `y` (n, m) is apply's output; `dy` is turned from d(output) into d(input) in place.
/// Norms need `pre` (n, m), apply's input; without a norm it may be empty, because y is enough. Layer norm's
/// row_stats are read if given, else computed again. Batch norm needs `col_sums` (2, m), Σ dŷ and Σ dŷ·x̂
/// over all ranks' rows, and `count`, the number of these rows (see column_sums_backward).
void apply_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                    MatrixView dy, const EpilogueGradient& gradient, std::span<const double> col_sums = {},
                    double count = 0);

/// sums = 0, before sums over rows are added.
void zero_sums(Context& ctx, std::span<double> sums);
/// `count` zeroed sums in scratch buffer `of`.
std::span<double> zeroed_sums(Context& ctx, const ScratchKey& of, Index count);
/// sums (2, m) += Σ_r x and Σ_r x² over the rows of x (n, m), which batch norm needs from each rank. weights
/// (n): the weight of each row; empty: 1 each.
void column_sums(Context& ctx, ConstMatrixView x, double* sums, std::span<const Real> weights = {});
/// sums (2, m) += Σ dŷ and Σ dŷ·x̂ for batch norm's backward, where dŷ is the gradient at the norm's output
/// (residual, activation and dropout undone; gain included), and x̂ = (pre + bias − col_mean) · col_rstd.
void column_sums_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                          ConstMatrixView dy, double* sums);
/// out[c] (+)= Σ_r x(r, c).
void sum_rows(Context& ctx, ConstMatrixView x, Real* out, bool accumulate = false);

/// out = dropout(x), or a copy. Forward and backward alike (the mask is linear). out may be x.
void dropout(Context& ctx, const Dropout& d, ConstMatrixView x, MatrixView out);
/// out = value everywhere.
void fill(Context& ctx, Real value, MatrixView out);
/// out = a · x + b · out.  All (n, m). b = 0 doesn't read out.
void axpby(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out);
/// x = factor · x.
void scale(Context& ctx, Real factor, MatrixView x);
/// Row r of x times factors[r]. factors (x.rows).
void scale_rows(Context& ctx, const Real* factors, MatrixView x);
/// out[i] = x[index[i]]: packs rows for sending.  index (out.rows).
void gather_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out);
/// out[index[i]] += x[i]: adds received gradients to owned rows. No id occurs twice in one call.
void scatter_add_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out);
/// out[index[i]] = x[i], with distinct ids; out's other rows stay.
void scatter_rows(Context& ctx, ConstMatrixView x, const VertexId* index, MatrixView out);

// ---- norm_statistics.cc: what batch norm keeps of its columns

/// stats (2, m) = mean and 1/σ over `count` rows, from their column_sums (2, m).
void norm_statistics(Context& ctx, std::span<const double> sums, double count, MatrixView stats);
/// The same from a mean and a variance, each (m).
void known_statistics(Context& ctx, const Real* mean, const Real* variance, MatrixView stats);
/// Moves a running mean and unbiased variance, each (m), by `share` of the way to those of `sums`.
void move_running_statistics(Context& ctx, std::span<const double> sums, double count, double share,
                             Real* mean, Real* variance);

// ---- softmax.cc: the state of a softmax over neighbours whose sources come block by block

/// The state of a softmax, each (dst, heads).
struct SoftmaxState {
  MatrixView max;  // starts at −infinity
  MatrixView sum;  // starts at 0
};
/// The state with the weighted sum out (dst, heads·f), which isn't divided by the sum yet.
struct Softmaxes {
  SoftmaxState state;
  MatrixView out;
};

/// max = −∞, sum = 0, out = 0. Call before the first block.
void softmax_begin(Context& ctx, const Softmaxes& softmaxes);
/// Merges two states with the same destinations and no common sources.
void softmax_merge(Context& ctx, const Softmaxes& softmaxes, const Softmaxes& other);

// ---- attention.cc: GAT's fused score, softmax and weighted sum
// z (src, heads·f): head h's columns are h·f … h·f + f − 1. Scores are per vertex and explicit arguments,
// because the strategy may have to complete them first (P3); the kernel never derives them from z.
// e(i,j,h) = LeakyReLU(dst_score(i,h) + src_score(j,h)) ; α = softmax over the arcs of i;
// out = Σ α·mask·z(j). Arc weights, if any, multiply exp(e) (a weighted softmax).

struct Attention {
  Arcs arcs;  // scales are not used
  int heads = 1;
  Real slope = Real(0.2);  // LeakyReLU's
  /// Dropout of α: head h is dropped if Draws::bits(mix64(draws.row_key(dst id) ^ src id), h) is below
  /// drop_threshold(rate).
  double dropout_rate = 0;
  Draws draws = {};
  std::span<const VertexId> dst_ids, src_ids;  // original ids, for the draws
};

/// Adds one block of sources to the unnormalised out, which is rescaled when the maximum grows.
void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes);
/// out /= sum; rows without arcs stay 0.
void attention_finish(Context& ctx, const Softmaxes& softmaxes);
/// dot (dst, heads) = <out, d_out> per head = Σ_k α_k dα_k, which the backward of every block needs.
void attention_dot(Context& ctx, int heads, ConstMatrixView out, ConstMatrixView d_out, MatrixView dot);
/// Backward of one block.  Writes d_z (src, heads·f) and d_src_score (src, heads), and adds to d_dst_score
/// (dst, heads). α is computed again from scores, max and sum. The transpose is as in Block.
void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* transpose_arc, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score);
/// score (n, heads) = <z(head), a(head)>.  z (n, heads·f), a (heads·f).
void head_dot(Context& ctx, int heads, ConstMatrixView z, const Real* a, MatrixView score);
/// d_z += d_score ⊗ a ;  d_a += Σ_n d_score · z.
void head_dot_backward(Context& ctx, int heads, ConstMatrixView z, const Real* a, ConstMatrixView d_score,
                       MatrixView d_z, Real* d_a);

// ---- softmax_aggregate.cc: GENConv's softmax over neighbours, column by column (DeeperGCN)
// out(i,c) = Σ_j p(i,j,c)·m(j,c), p = softmax_j(t·m(j,c)): a column is a head.

void softmax_add(Context& ctx, const Arcs& a, Real t, ConstMatrixView m, const Softmaxes& softmaxes);
void softmax_finish(Context& ctx, const Softmaxes& softmaxes);
/// Writes d_m (src, f): Σ_i p·d_out·(1 + t·(m − out)).
void softmax_backward(Context& ctx, const Arcs& a, const CsrView& transpose, Real t, ConstMatrixView m,
                      const SoftmaxState& state, ConstMatrixView out, ConstMatrixView d_out, MatrixView d_m);

// ---- loss.cc ---------------------------------------------------------------------------------------------
// Rows are selected by `rows` (ascending local row numbers); others get a zero gradient.

/// *sum += Σ over rows of −log softmax(logits)[label].  logits (n, C), labels (n) in 0 … C−1 on the selected
/// rows. d_logits (n, C), unless empty, becomes (softmax − onehot) · scale on selected rows, 0 elsewhere.
void cross_entropy(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum);
/// *sum += Σ over rows and classes of the binary cross entropy with logits; targets (n, C) of 0 and 1.
void binary_cross_entropy(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                          std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum);

// ---- metrics.cc: counts over selected rows, as for the losses ---------------------------------------------
// The predicted class of a row is its largest logit, the first if several are equal.

struct LabelCounts {
  Index right = 0, wrong = 0;
};
/// *counts = number of rows whose predicted class is their label, and of the others.  logits (n, C), labels
/// (n).
void count_classes(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, LabelCounts* counts);
/// Multi-label; a label is predicted if its logit is above 0. Counts labels that are predicted and true as
/// right, and labels that are either, but not both, as wrong.  targets (n, C) of 0 and 1.
void count_labels(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                  std::span<const VertexId> rows, LabelCounts* counts);
/// For one class or label: rows that are predicted as it and have it, rows predicted as it, rows that have
/// it.
struct ClassCounts {
  Index hits = 0, predicted = 0, actual = 0;
};
/// counts (C) = the rows' counts, with one class per row, or several labels.
void count_by_class(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts);
void count_by_label(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts);
/// counts (C, C)[label, predicted class] = number of rows.
void count_confusions(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                      std::span<const VertexId> rows, std::span<std::int64_t> counts);

// ---- optimise.cc -----------------------------------------------------------------------------------------

/// What a step's kernels read about the step, and the results that they leave. It is in the device's memory,
/// so that the host doesn't wait for it within the step, and a device may record a step's kernels and run
/// them again.
struct StepState {
  double learning_rate = 0;
  std::int64_t update = 0;  // number of the optimiser's steps, this one included, for Adam's corrections
  double loss = 0;          // Σ over this rank's rows
  double not_finite = 0;    // elements of the gradient that aren't finite; if any, no weight changes
  double squares[2] = {};   // Σ of the gradient's squares: [0] held by every rank, [1] divided among ranks
};
/// Sets rate and update, and everything else to 0.
void begin_step(Context& ctx, double learning_rate, std::int64_t update, StepState* state);

struct AdamRule {
  double beta1, beta2, epsilon, weight_decay;
  bool decoupled = false;  // AdamW
};
/// One step on `count` elements; m and v are the moments.
void adam(Context& ctx, const AdamRule& rule, const StepState* state, Index count, const Real* gradient,
          Real* m, Real* v, Real* weight);
struct SgdRule {
  double momentum, weight_decay;
};
void sgd(Context& ctx, const SgdRule& rule, const StepState* state, Index count, const Real* gradient,
         Real* velocity, Real* weight);

/// *sum += Σ x² of `count` elements: a gradient's norm is its root.
void squared_norm(Context& ctx, Index count, const Real* x, double* sum);
/// Scales x down to the 2-norm `longest` if state->squares say that it is longer.
void clip(Context& ctx, double longest, const StepState* state, MatrixView x);
/// *count += number of elements that are not finite. Skipped if *unless is finite.
void count_non_finite(Context& ctx, ConstMatrixView x, double* count, const double* unless = nullptr);

}  // namespace atl
