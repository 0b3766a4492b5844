// Sums over neighbours by cuSPARSE, with values of one and preprocessing done beforehand, by two algorithms:
// the one that its manual recommends for row-major operands, and the one that gives the same bits in each
// run.
#include "sparse_sums.h"

#include <cusparse.h>

#include <memory>

#include "gpu_rank.h"

namespace atl {
namespace {

void must_sparse(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS) fail("{}: {}", call, cusparseGetErrorString(status));
}
#define ATOLL_SPARSE(call) must_sparse(call, #call)

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float kOne = 1, kZero = 0;

/// What both algorithms read and write.
struct Operands {
  Operands(Context& ctx, const std::vector<Index>& wide, const CsrView& csr, ConstMatrixView x,
           MatrixView out)
      : copies(ctx), arcs(wide.back()), ones(1, arcs, Device::kCuda) {
    const std::vector<int> narrow(wide.begin(), wide.end());
    const auto offsets = copies.of(std::span<const int>(narrow));
    fill(ctx, 1, ones);
    ATOLL_SPARSE(cusparseCreate(&handle));
    ATOLL_SPARSE(cusparseSetStream(handle, cuda::stream_of(ctx).stream()));
    ATOLL_SPARSE(cusparseCreateConstCsr(&a, csr.rows, csr.cols, arcs, offsets.data(), csr.columns,
                                        ones.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    ATOLL_SPARSE(
        cusparseCreateConstDnMat(&b, x.rows, x.cols, x.stride, x.data, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    ATOLL_SPARSE(
        cusparseCreateDnMat(&c, out.rows, out.cols, out.stride, out.data, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  }
  ~Operands() {
    cusparseDestroySpMat(a), cusparseDestroyDnMat(b), cusparseDestroyDnMat(c), cusparseDestroy(handle);
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  DeviceCopies copies;
  Index arcs;
  Matrix ones;
  cusparseHandle_t handle = nullptr;
  cusparseConstSpMatDescr_t a = nullptr;
  cusparseConstDnMatDescr_t b = nullptr;
  cusparseDnMatDescr_t c = nullptr;
};

}  // namespace

std::vector<SparseSum> sparse_sums(Context& ctx, const std::vector<Index>& offsets, const CsrView& csr,
                                   ConstMatrixView x, MatrixView out) {
  std::vector<SparseSum> all;
  const auto s = std::make_shared<Operands>(ctx, offsets, csr, x, out);
  for (const auto& [algorithm, same_bits] :
       {std::pair{CUSPARSE_SPMM_CSR_ALG2, false}, {CUSPARSE_SPMM_CSR_ALG3, true}}) {
    std::size_t bytes = 0;
    if (cusparseSpMM_bufferSize(s->handle, kPlain, kPlain, &kOne, s->a, s->b, &kZero, s->c, CUDA_R_32F,
                                algorithm, &bytes) != CUSPARSE_STATUS_SUCCESS)
      continue;
    const auto room = std::make_shared<Buffer<std::byte>>(Device::kCuda, Index(bytes) + 1);
    if (cusparseSpMM_preprocess(s->handle, kPlain, kPlain, &kOne, s->a, s->b, &kZero, s->c, CUDA_R_32F,
                                algorithm, room->data()) != CUSPARSE_STATUS_SUCCESS)
      continue;
    all.push_back({same_bits, [s, room, algorithm](Context&) {
                     ATOLL_SPARSE(cusparseSpMM(s->handle, kPlain, kPlain, &kOne, s->a, s->b, &kZero, s->c,
                                               CUDA_R_32F, algorithm, room->data()));
                   }});
  }
  return all;
}

}  // namespace atl
