#include "tensor/cuda/sparse_sums.h"

#include <algorithm>

#include "tensor/cuda/library_call.h"

namespace atl::cuda {
namespace {

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kSameBits = CUSPARSE_SPMM_CSR_ALG3;  // in each run: of the algorithms for CSR, this one alone
constexpr float kOne = 1, kZero = 0;

/// The dense operands of a call. Both are the host's, a few bytes.
class Dense {
 public:
  Dense(const SparseHandle& handle, ConstMatrixView x, MatrixView out) : library_(handle.library()) {
    handle.must(library_.create_read(&x_, x.rows, x.cols, x.stride, x.data, CUDA_R_32F, CUSPARSE_ORDER_ROW),
                "cusparseCreateConstDnMat");
    handle.must(library_.create_written(&out_, out.rows, out.cols, out.stride, out.data, CUDA_R_32F,
                                        CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
  }
  ~Dense() {
    if (x_ != nullptr) library_.destroy_dense(x_);
    if (out_ != nullptr) library_.destroy_dense(out_);
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;

  cusparseConstDnMatDescr_t x() const { return x_; }
  cusparseDnMatDescr_t out() const { return out_; }

 private:
  const SparseLibrary& library_;
  cusparseConstDnMatDescr_t x_ = nullptr;
  cusparseDnMatDescr_t out_ = nullptr;
};

}  // namespace

SparseMatrix::SparseMatrix(Context& ctx, const Arcs& arcs, Index count_)
    : rows(arcs.csr.rows),
      cols(arcs.csr.cols),
      count(count_),
      offsets(ctx.device, rows + 1),
      columns(arcs.csr.columns),
      values(ctx.device, count) {
  has_no_column_twice = fill_matrix(ctx, arcs, offsets.data(), values.data());
}

SparseHandle::SparseHandle(const SparseLibrary& library, cudaStream_t stream) : library_(library) {
  if (library_.create(&handle_) != CUSPARSE_STATUS_SUCCESS)
    handle_ = nullptr;
  else
    must(library_.set_stream(handle_, stream), "cusparseSetStream");
}

SparseHandle::~SparseHandle() {
  if (handle_ != nullptr) library_.destroy(handle_);
}

void SparseHandle::must(cusparseStatus_t status, const char* call) const {
  if (status != CUSPARSE_STATUS_SUCCESS) fail("device cuda: {}: {}", call, library_.error_string(status));
}

/// What a call is compared by when it comes again: the number tells sums apart that lay at the same address one after the other.
struct SparseSums::Call {
  const SparseSums* sums;
  std::uint64_t number;
  ConstMatrixView x;
  MatrixView out;
  std::uint64_t accumulate;
};

SparseSums::SparseSums(const SparseHandle& handle, const SparseMatrix& matrix, std::uint64_t number)
    : handle_(handle), library_(handle.library()), number_(number) {
  handle.must(library_.create_csr(&matrix_, matrix.rows, matrix.cols, matrix.count, matrix.offsets.data(),
                                  matrix.columns, matrix.values.data(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
              "cusparseCreateConstCsr");
}

SparseSums::~SparseSums() {
  library_.destroy_sparse(matrix_);
}

std::unique_ptr<SparseSums> SparseSums::make(const SparseHandle& handle, const SparseMatrix& matrix,
                                             ConstMatrixView x, MatrixView out, Index most_bytes,
                                             std::uint64_t number) {
  if (!matrix.has_no_column_twice) return nullptr;
  std::unique_ptr<SparseSums> sums(new SparseSums(handle, matrix, number));
  return sums->analyse(x, out, most_bytes) ? std::move(sums) : nullptr;
}

bool SparseSums::analyse(ConstMatrixView x, MatrixView out, Index most_bytes) {
  const Dense dense(handle_, x, out);
  std::size_t bytes = 0;
  if (library_.workspace_bytes(handle_.get(), kPlain, kPlain, &kOne, matrix_, dense.x(), &kZero, dense.out(),
                               CUDA_R_32F, kSameBits, &bytes) != CUSPARSE_STATUS_SUCCESS ||
      Index(bytes) > most_bytes)
    return false;
  workspace_.resize(std::max<Index>(1, Index(bytes)));
  return library_.analyse(handle_.get(), kPlain, kPlain, &kOne, matrix_, dense.x(), &kZero, dense.out(),
                          CUDA_R_32F, kSameBits, workspace_.data()) == CUSPARSE_STATUS_SUCCESS;
}

void SparseSums::give(Context& ctx, ConstMatrixView x, MatrixView out, bool accumulate) const {
  call_library(ctx, &SparseSums::run, Call{this, number_, x, out, std::uint64_t(accumulate)});
}

void SparseSums::run(const Target& /*on*/, const Call& call) {  // on the handle's stream, which is the same
  const SparseHandle& handle = call.sums->handle_;
  const Dense dense(handle, call.x, call.out);
  handle.must(handle.library().multiply(handle.get(), kPlain, kPlain, &kOne, call.sums->matrix_, dense.x(),
                                        call.accumulate != 0 ? &kOne : &kZero, dense.out(), CUDA_R_32F,
                                        kSameBits, const_cast<std::byte*>(call.sums->workspace_.data())),
              "cusparseSpMM");
}

}  // namespace atl::cuda
