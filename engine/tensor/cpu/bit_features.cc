// Input features kept as bits. A chunk of rows goes through the tables of all words, so it has enough rows to
// pay for making the tables. Its results meanwhile stay in the second-level cache.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// Making a word's tables costs 120 additions, using them 8 per row. A row's sum has the same order in any
/// chunk, so chunks may depend on the number of threads.
RowChunks chunks_of_bits(const Context& ctx, Index rows) {
  const Index even = (rows + ctx.pool->threads() - 1) / ctx.pool->threads();
  return {rows, std::clamp<Index>(even, 64, 512)};
}

void product(Context& ctx, const simd::BitProduct& p, Index rows) {
  const RowChunks chunks = chunks_of_bits(ctx, rows);
  run_chunks(ctx, chunks.count(),
             [&](Index chunk) { simd::loops().bit_product(p, chunks.begin(chunk), chunks.end(chunk)); });
}

}  // namespace

void bit_gemm(Context& ctx, const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
              const Epilogue& epilogue) {
  product(ctx, product_of_bits(x, w, out, accumulate, epilogue), out.rows);
}

void bit_gemm_at(Context& ctx, const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                 Index first) {
  product(ctx, product_of_transpose(x, b, out, accumulate, first), out.rows);
}

}  // namespace atl::cpu
