// Softmaxes over neighbours with all values in halves read and write these directly, without copies in Reals.
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

constexpr Index kRows = 50, kHeads = 3, kWidth = 16, kCols = kHeads * kWidth;

/// Bytes of the workspace behind every kernel of theirs, with values stored so.
Index scratch_of(Storage storage) {
  GpuRank rank;
  Context& ctx = rank.ctx;
  std::vector<Matrix> kept;
  const auto matrix = [&](Index cols, Storage stored) {
    Matrix& memory = kept.emplace_back(kRows, cols, Device::kCuda);
    memory.zero();
    return MatrixView(memory.data(), kRows, cols, stored);
  };
  const auto values = [&] { return matrix(kCols, storage); };
  const auto reals = [&](Index cols) { return matrix(cols, Storage::kReals); };
  const TestGraph g = random_graph(3, kRows, kRows, 4, false), back = transposed(g);
  DeviceCopies copies(ctx);
  const CsrView arcs = copies.of(g.view()), transpose = copies.of(back.view());
  const Index* const arc_of = copies.of(std::span<const Index>(back.arc_of)).data();
  const auto softmaxes = [&](Index heads) { return Softmaxes{{reals(heads), reals(heads)}, values()}; };

  const Softmaxes s = softmaxes(kHeads), of_columns = softmaxes(kCols);
  const MatrixView vector = reals(kCols);
  softmax_begin(ctx, s), softmax_begin(ctx, of_columns);
  Attention a;
  a.arcs = {arcs};
  a.heads = kHeads;
  const MatrixView z = values(), score = reals(kHeads), d_z = values();
  head_dot(ctx, kHeads, z, vector.data, score);
  attention_add(ctx, a, z, score, score, s);
  softmax_merge(ctx, s, softmaxes(kHeads));
  attention_finish(ctx, s);
  attention_dot(ctx, kHeads, s.out, values(), score);
  attention_backward(ctx, a, transpose, arc_of, z, score, score, s.state, score, values(), d_z, reals(kHeads),
                     reals(kHeads));
  head_dot_backward(ctx, kHeads, z, vector.data, score, d_z, vector.data);
  softmax_add(ctx, {arcs}, Real(0.5), values(), of_columns);
  softmax_finish(ctx, of_columns);
  softmax_backward(ctx, {arcs}, transpose, Real(0.5), values(), of_columns.state, of_columns.out, values(),
                   values());
  std::ignore = read(ctx, vector.data);  // all is done
  return rank.workspace.bytes();
}

TEST(SoftmaxesOfHalves, CopyNothing) {
  EXPECT_EQ(scratch_of(Storage::kHalves), scratch_of(Storage::kReals));
}

}  // namespace
}  // namespace atl::test
