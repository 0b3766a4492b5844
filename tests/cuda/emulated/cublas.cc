// cuBLAS, emulated by plain loops.
#include <cublas_v2.h>

#include "emulated.h"
#include "products.h"

namespace {

/// T: what is added up. A and B of In, C of Out.
template <class T, class In, class Out>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                    int k, T one, const In* a, int lda, const In* b, int ldb, T beta, Out* c, int ldc) {
  const int a_rows = a_op == CUBLAS_OP_N ? m : k, b_rows = b_op == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || lda < (a_rows > 1 ? a_rows : 1) || ldb < (b_rows > 1 ? b_rows : 1) ||
      ldc < (m > 1 ? m : 1))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (emulated::is_captured(handle->stream) && handle->workspace == nullptr)
    emulated::end("cuBLAS allocates its workspace within a captured graph, which can't be updated");
  emulated::bring_near(a), emulated::bring_near(b), emulated::bring_near(c);
  emulated::give(handle->stream, [=] {
    const emulated::Operand<In> left{a, a_op == CUBLAS_OP_T, lda}, right{b, b_op == CUBLAS_OP_T, ldb};
    emulated::multiply(m, n, k, one, left, right, beta, c, ldc,
                       [](T value, std::ptrdiff_t) { return value; });
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an argument that cuBLAS refuses";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  handle->workspace = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (emulated::gpu_of(workspace) < 0 || bytes < std::size_t(4) << 20) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m,
                           int n, int k, const float* one, const float* a, int lda, const float* b, int ldb,
                           const float* beta, float* c, int ldc) {
  return gemm(handle, a_op, b_op, m, n, k, *one, a, lda, b, ldb, *beta, c, ldc);
}
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m,
                           int n, int k, const double* one, const double* a, int lda, const double* b,
                           int ldb, const double* beta, double* c, int ldc) {
  return gemm(handle, a_op, b_op, m, n, k, *one, a, lda, b, ldb, *beta, c, ldc);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m,
                            int n, int k, const void* one, const void* a, cudaDataType_t a_type, int lda,
                            const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                            cudaDataType_t c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t /*algorithm*/) {
  using Half = atl::Bfloat16;
  if (a_type != CUDA_R_16BF || b_type != CUDA_R_16BF || compute != CUBLAS_COMPUTE_32F)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto play = [&]<class Out>(Out* to) {
    return gemm(handle, a_op, b_op, m, n, k, *static_cast<const float*>(one), static_cast<const Half*>(a),
                lda, static_cast<const Half*>(b), ldb, *static_cast<const float*>(beta), to, ldc);
  };
  return c_type == CUDA_R_16BF ? play(static_cast<Half*>(c)) : play(static_cast<float*>(c));
}
