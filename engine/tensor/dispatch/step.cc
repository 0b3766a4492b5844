// Losses, metrics and optimisers: checks shapes, and calls the device's kernel.
#include "tensor/dispatch/dispatch.h"

namespace atl {
namespace {

template <class T>
void check_counts(std::span<T> counts, Index wanted) {
  ATOLL_CHECK(Index(counts.size()) == wanted, "{} counts of {}", counts.size(), wanted);
}

void check_gradient(ConstMatrixView logits, MatrixView d_logits) {
  ATOLL_CHECK(d_logits.empty() || (d_logits.rows == logits.rows && d_logits.cols == logits.cols),
              "d_logits {} x {}", d_logits.rows, d_logits.cols);
}

}  // namespace

void cross_entropy(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  check_gradient(logits, d_logits);
  ATOLL_CALL(cross_entropy, ctx, logits, labels, rows, scale, d_logits, sum);
}

void binary_cross_entropy(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                          std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  check_same_shape(targets, logits);
  check_gradient(logits, d_logits);
  ATOLL_CALL(binary_cross_entropy, ctx, logits, targets, rows, scale, d_logits, sum);
}

void count_classes(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, LabelCounts* counts) {
  ATOLL_CALL(count_classes, ctx, logits, labels, rows, counts);
}

void count_labels(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                  std::span<const VertexId> rows, LabelCounts* counts) {
  check_same_shape(targets, logits);
  ATOLL_CALL(count_labels, ctx, logits, targets, rows, counts);
}

void count_by_class(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  check_counts(counts, logits.cols);
  ATOLL_CALL(count_by_class, ctx, logits, labels, rows, counts);
}

void count_by_label(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  check_same_shape(targets, logits);
  check_counts(counts, logits.cols);
  ATOLL_CALL(count_by_label, ctx, logits, targets, rows, counts);
}

void count_confusions(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                      std::span<const VertexId> rows, std::span<std::int64_t> counts) {
  check_counts(counts, logits.cols * logits.cols);
  ATOLL_CALL(count_confusions, ctx, logits, labels, rows, counts);
}

void begin_step(Context& ctx, double learning_rate, std::int64_t update, StepState* state) {
  ATOLL_CHECK(update >= 1, "update {}", update);
  ATOLL_CALL(begin_step, ctx, learning_rate, update, state);
}

void adam(Context& ctx, const AdamRule& rule, const StepState* state, Index count, const Real* gradient,
          Real* m, Real* v, Real* weight) {
  add_work(ctx, [&] {
    return streamed(7.0 * double(count) * sizeof(Real), double(count) * sizeof(Real));
  });  // reads the gradient, reads and writes three arrays
  ATOLL_CALL(adam, ctx, rule, state, count, gradient, m, v, weight);
}

void sgd(Context& ctx, const SgdRule& rule, const StepState* state, Index count, const Real* gradient,
         Real* velocity, Real* weight) {
  add_work(ctx, [&] { return streamed(5.0 * double(count) * sizeof(Real), double(count) * sizeof(Real)); });
  ATOLL_CALL(sgd, ctx, rule, state, count, gradient, velocity, weight);
}

void squared_norm(Context& ctx, Index count, const Real* x, double* sum) {
  ATOLL_CALL(squared_norm, ctx, count, x, sum);
}

void clip(Context& ctx, double longest, const StepState* state, MatrixView x) {
  ATOLL_CHECK(longest > 0, "a norm of at most {}", longest);
  if (!x.empty()) ATOLL_CALL(clip, ctx, longest, state, x);
}

void count_non_finite(Context& ctx, ConstMatrixView x, double* count, const double* unless) {
  if (!x.empty()) ATOLL_CALL(count_non_finite, ctx, x, count, unless);
}

}  // namespace atl
