// A promise of kernels.h: a second call with the same shapes allocates nothing, neither by new nor for
// matrices.
#include "base/counted_allocations.h"
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;

/// Operands of every kernel, of one set of shapes.
struct Operands {
  TestGraph graph = random_graph(1, 500, 400, 6, true), transpose = transposed(graph);
  Matrix x = random_matrix(2, 400, 24), w = random_matrix(3, 24, 24), out = random_matrix(4, 500, 24);
  Matrix rows = random_matrix(5, 500, 24), d_x = random_matrix(6, 400, 24), square = random_matrix(7, 24, 24);
  Matrix bias = random_matrix(8, 1, 24), gain = random_matrix(9, 1, 24),
         stats = random_matrix(10, 2, 24, 1, 2);
  Matrix score = random_matrix(11, 500, 4), src_score = random_matrix(12, 400, 4), max{500, 24}, sum{500, 24};
  Matrix head_max{500, 4}, head_sum{500, 4}, dot{500, 4}, d_src_score{400, 4};
  std::vector<VertexId> ids = random_ids(13, 500), src_ids = random_ids(14, 400), selected{1, 30, 499};
  std::vector<VertexId> index = std::vector<VertexId>(400, 7);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(500, 3);
  std::vector<std::uint8_t> targets = std::vector<std::uint8_t>(500 * 24, 1);
  std::vector<std::int64_t> confusions = std::vector<std::int64_t>(24 * 24);

  Arcs arcs() const { return {graph.view(), nullptr, nullptr}; }
  Dropout dropped() const { return {0.3, Draws(1, Purpose::kDropout), ids}; }
  SparseRows sparse() const { return {graph.view(), transpose.view()}; }  // 500 rows of 400 features
  BitMatrix bits = random_bits(15, 500, 400), bits_transposed = atl::transpose(bits.view());
  std::vector<Real> levels = std::vector<Real>(500, 2);
  BitRows bit_rows() const { return {bits.view(), bits_transposed.view(), levels.data()}; }
  View<const std::uint8_t> target_rows() const { return {targets.data(), 500, 24}; }
  Attention attention() const {
    return {arcs(), 4, Real(0.2), 0.3, Draws(1, Purpose::kAttentionDropout), ids, src_ids};
  }
  Epilogue epilogue(Epilogue::Norm norm) {
    return {.bias = bias.data(),
            .norm = norm,
            .gain = gain.data(),
            .shift = bias.data(),
            .col_mean = stats.data(),
            .col_rstd = stats.data() + 24,
            .activation = Activation::kRelu,
            .dropout = dropped()};
  }
};

/// Every kernel once, each with arguments for which it does all that it can.
void call_products(Context& ctx, Operands& o) {
  spmm(ctx, o.arcs(), o.x, o.out, true, o.epilogue(Epilogue::Norm::kLayer));
  gemm(ctx, o.rows, o.w, o.out, true, o.epilogue(Epilogue::Norm::kLayer));
  gemm_bt(ctx, o.rows, o.w, o.out, false, o.dropped());
  gemm_at(ctx, o.rows, {}, o.out, o.square, true);
  sparse_gemm(ctx, o.sparse(), o.dropped(), o.x, o.out);
  sparse_gemm_at(ctx, o.sparse(), o.dropped(), o.out, o.d_x, true);
  bit_gemm(ctx, o.bit_rows(), o.x, o.out, true, o.epilogue(Epilogue::Norm::kLayer));
  bit_gemm_at(ctx, o.bit_rows(), o.out, o.d_x, true);
}

void call_rowwise(Context& ctx, Operands& o) {
  const Epilogue layer = o.epilogue(Epilogue::Norm::kLayer), batch = o.epilogue(Epilogue::Norm::kBatch);
  const EpilogueGradient gradient{.bias = o.bias.data(), .gain = o.gain.data(), .shift = o.bias.data()};
  static constexpr ScratchKey kSums;
  const std::span<double> sums = zeroed_sums(ctx, kSums, 48);
  apply(ctx, layer, o.out, o.out);
  apply_backward(ctx, layer, o.rows, o.out, o.rows, gradient);
  column_sums(ctx, o.rows, sums.data());
  norm_statistics(ctx, sums, 500, o.stats);
  move_running_statistics(ctx, sums, 500, 0.1, o.stats.data(), o.stats.data() + 24);
  known_statistics(ctx, o.gain.data(), o.stats.data() + 24, o.stats);
  column_sums_backward(ctx, batch, o.rows, o.out, o.rows, sums.data());
  apply_backward(ctx, batch, o.rows, o.out, o.rows, gradient, sums, 500);
  sum_rows(ctx, o.rows, o.bias.data(), true);
  dropout(ctx, o.dropped(), o.rows, o.out);
  fill(ctx, 1, o.out);
  axpby(ctx, 2, o.rows, 1, o.out);
  scale(ctx, 2, o.out);
  gather_rows(ctx, o.rows, o.index.data(), o.d_x);
  scatter_add_rows(ctx, o.x.view().slice_rows(0, 1), o.index.data(), o.out);
  scatter_rows(ctx, o.x.view().slice_rows(0, 1), o.index.data(), o.out);
}

void call_attention(Context& ctx, Operands& o) {
  const Softmaxes heads{{o.head_max, o.head_sum}, o.out}, columns{{o.max, o.sum}, o.out};
  softmax_begin(ctx, heads);
  attention_add(ctx, o.attention(), o.x, o.score, o.src_score, heads);
  softmax_merge(ctx, heads, heads);
  attention_finish(ctx, heads);
  attention_dot(ctx, 4, o.out, o.rows, o.dot);
  attention_backward(ctx, o.attention(), o.transpose.view(), o.transpose.arc_of.data(), o.x, o.score,
                     o.src_score, heads.state, o.dot, o.rows, o.d_x, o.d_src_score, o.score);
  head_dot(ctx, 4, o.x, o.bias.data(), o.src_score);
  head_dot_backward(ctx, 4, o.x, o.bias.data(), o.src_score, o.d_x, o.gain.data());
  softmax_begin(ctx, columns);
  softmax_add(ctx, o.arcs(), 1, o.x, columns);
  softmax_finish(ctx, columns);
  softmax_backward(ctx, o.arcs(), o.transpose.view(), 1, o.x, columns.state, o.out, o.rows, o.d_x);
}

void call_training(Context& ctx, Operands& o) {
  StepState state;
  LabelCounts counts;
  cross_entropy(ctx, o.rows, o.labels.data(), o.selected, 1, o.out, &state.loss);
  binary_cross_entropy(ctx, o.rows, o.target_rows(), o.selected, 1, o.out, &state.loss);
  count_classes(ctx, o.rows, o.labels.data(), o.selected, &counts);
  count_labels(ctx, o.rows, o.target_rows(), o.selected, &counts);
  count_confusions(ctx, o.rows, o.labels.data(), o.selected, o.confusions);
  begin_step(ctx, 0.01, 1, &state);
  adam(ctx, {0.9, 0.999, 1e-8, 0.1, false}, &state, 24 * 24, o.w.data(), o.square.data(), o.square.data(),
       o.w.data());
  sgd(ctx, {0.9, 0.1}, &state, 24 * 24, o.w.data(), o.square.data(), o.w.data());
  squared_norm(ctx, 500 * 24, o.rows.data(), &state.squares[0]);
  clip(ctx, 1, &state, o.rows);
  count_non_finite(ctx, o.rows, &state.not_finite);
}

struct Group {
  const char* name;
  void (*call)(Context&, Operands&);
};

class Allocation : public testing::TestWithParam<Group> {};

TEST_P(Allocation, ASecondCallMakesNone) {
  TestRank rank;
  Operands operands;
  const long start = allocations;
  GetParam().call(rank.ctx, operands);
  EXPECT_GT(allocations, start) << "the first call's workspace was not counted";
  const long before = allocations;
  GetParam().call(rank.ctx, operands);
  EXPECT_EQ(allocations - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Allocation,
                         testing::Values(Group{"products", call_products}, Group{"rowwise", call_rowwise},
                                         Group{"attention", call_attention},
                                         Group{"training", call_training}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace atl
