// Input features kept as bits: a chunk of rows goes through the tables of all words, so a chunk has rows
// enough to pay for making the tables, and its results stay in the second-level cache meanwhile.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// Making a word's tables costs 120 additions, using them 8 a row. Each row's sum has its order whatever the
/// chunk is, so the number of threads may choose.
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
