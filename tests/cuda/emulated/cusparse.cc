// cuSPARSE, emulated by plain loops. A row with a column twice ends the program: the manual warns of such
// rows, and the real analysis then writes past its workspace. The emulated analysis fills the workspace with
// a number of its graph, and a product ends the program where the graph or the workspace has changed since.
#include <cusparse.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "emulated.h"
#include "streams.h"
#include "tensor/cuda/cusparse_library.h"

struct cusparseContext {
  cudaStream_t stream = nullptr;
};
struct cusparseSpMatDescr {
  std::int64_t rows, cols, count;
  const int *offsets, *columns;
  const float* values;
  mutable const void* workspace = nullptr;  // of the last analysis, which was for products of so many columns
  mutable std::int64_t analysed = 0;
};
struct cusparseDnMatDescr {
  std::int64_t rows, cols, distance;
  float* values;
};

namespace emulated {
namespace {

std::atomic<bool> offered{true};
std::atomic<std::int64_t> products{0};

std::size_t workspace_words(const cusparseSpMatDescr& a, const cusparseDnMatDescr& c) {
  return std::size_t(2 + a.rows / 4 + c.cols);
}

/// A number of the graph, FNV-1a.
std::uint64_t number_of(const cusparseSpMatDescr& a, const int* offsets, const int* columns) {
  std::uint64_t number = 0xcbf29ce484222325;
  const auto add = [&](int value) { number = (number ^ std::uint32_t(value)) * 0x100000001b3; };
  if (offsets[0] != 0 || offsets[a.rows] != a.count) end("cuSPARSE: offsets that aren't those of its arcs");
  for (std::int64_t r = 0; r <= a.rows; ++r) add(offsets[r]);
  for (std::int64_t e = 0; e < a.count; ++e) {
    if (columns[e] < 0 || columns[e] >= a.cols) end("cuSPARSE: an arc from a column that isn't there");
    add(columns[e]);
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    std::vector<int> row(columns + offsets[r], columns + offsets[r + 1]);
    std::sort(row.begin(), row.end());
    if (std::adjacent_find(row.begin(), row.end()) != row.end())
      end("cuSPARSE: a row has a column twice: the analysis may write behind its workspace");
  }
  return number;
}

/// What each of the three calls is given.
struct Asked {
  cusparseHandle_t handle;
  cusparseOperation_t a_op, b_op;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  cusparseDnMatDescr_t c;
  cudaDataType compute;
  cusparseSpMMAlg_t algorithm;

  cusparseStatus_t status() const {
    if (handle == nullptr || handle->stream == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (a == nullptr || b == nullptr || c == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->cols != b->rows || a->rows != c->rows || b->cols != c->cols) return CUSPARSE_STATUS_INVALID_VALUE;
    const bool played = a_op == CUSPARSE_OPERATION_NON_TRANSPOSE &&
                        b_op == CUSPARSE_OPERATION_NON_TRANSPOSE && compute == CUDA_R_32F &&
                        algorithm == CUSPARSE_SPMM_CSR_ALG3;
    return played ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  bool has_room(const void* workspace) const {
    return bytes_from(workspace) >= workspace_words(*a, *c) * sizeof(std::uint64_t);
  }
};

/// A descriptor's arrays as the host can read and write them.
struct Near {
  explicit Near(const Asked& asked) : a(*asked.a), b(*asked.b), c(*asked.c) {
    bring_near(a.offsets), bring_near(a.columns), bring_near(a.values);
    bring_near(b.values), bring_near(c.values);
  }
  void multiply(float one, float beta) const {
    for (std::int64_t r = 0; r < c.rows; ++r) {
      for (std::int64_t k = 0; k < c.cols; ++k) {
        float sum = 0;
        for (int e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
          sum += a.values[e] * b.values[a.columns[e] * b.distance + k];
        float& to = c.values[r * c.distance + k];
        to = beta == 0 ? one * sum : one * sum + beta * to;
      }
    }
  }
  cusparseSpMatDescr a;
  cusparseDnMatDescr b, c;
};

cusparseStatus_t make_dense(cusparseDnMatDescr** matrix, const cusparseDnMatDescr& shape, cudaDataType type,
                            cusparseOrder_t order) {
  if (shape.rows < 0 || shape.cols < 0 || shape.distance < shape.cols || gpu_of(shape.values) < 0)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (type != CUDA_R_32F || order != CUSPARSE_ORDER_ROW) return CUSPARSE_STATUS_NOT_SUPPORTED;
  *matrix = new cusparseDnMatDescr(shape);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

void offer_cusparse(bool offers) {
  offered = offers;
}
std::int64_t cusparse_products() {
  return products;
}

}  // namespace emulated

using emulated::Asked;

const char* cusparseGetErrorString(cusparseStatus_t status) {
  return status == CUSPARSE_STATUS_SUCCESS ? "success" : "an argument that cuSPARSE refuses";
}
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  *handle = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, std::int64_t rows,
                                        std::int64_t cols, std::int64_t count, const void* offsets,
                                        const void* columns, const void* values,
                                        cusparseIndexType_t offsets_type, cusparseIndexType_t columns_type,
                                        cusparseIndexBase_t base, cudaDataType values_type) {
  if (rows < 0 || cols < 0 || count < 0 || count > rows * cols || emulated::gpu_of(offsets) < 0 ||
      emulated::gpu_of(columns) < 0 || emulated::gpu_of(values) < 0)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (offsets_type != CUSPARSE_INDEX_32I || columns_type != CUSPARSE_INDEX_32I ||
      base != CUSPARSE_INDEX_BASE_ZERO || values_type != CUDA_R_32F)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  *matrix = new cusparseSpMatDescr{rows,
                                   cols,
                                   count,
                                   static_cast<const int*>(offsets),
                                   static_cast<const int*>(columns),
                                   static_cast<const float*>(values)};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* matrix, std::int64_t rows,
                                          std::int64_t cols, std::int64_t distance, const void* values,
                                          cudaDataType type, cusparseOrder_t order) {
  auto* const data = static_cast<float*>(const_cast<void*>(values));  // which nobody writes
  cusparseDnMatDescr* made = nullptr;
  const cusparseStatus_t status = emulated::make_dense(&made, {rows, cols, distance, data}, type, order);
  *matrix = made;
  return status;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, std::int64_t rows, std::int64_t cols,
                                     std::int64_t distance, void* values, cudaDataType type,
                                     cusparseOrder_t order) {
  return emulated::make_dense(matrix, {rows, cols, distance, static_cast<float*>(values)}, type, order);
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void* /*one*/,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* /*beta*/, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, std::size_t* bytes) {
  const cusparseStatus_t status = Asked{handle, a_op, b_op, a, b, c, compute, algorithm}.status();
  if (status == CUSPARSE_STATUS_SUCCESS) *bytes = emulated::workspace_words(*a, *c) * sizeof(std::uint64_t);
  return status;
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void* /*one*/,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* /*beta*/, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, void* workspace) {
  const Asked asked{handle, a_op, b_op, a, b, c, compute, algorithm};
  if (const cusparseStatus_t status = asked.status(); status != CUSPARSE_STATUS_SUCCESS) return status;
  if (!asked.has_room(workspace)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (emulated::is_captured(handle->stream)) emulated::end("cuSPARSE analyses within a captured graph");
  a->workspace = workspace, a->analysed = c->cols;
  auto* found = static_cast<std::uint64_t*>(workspace);
  emulated::bring_near(found);
  emulated::give(handle->stream, [near = emulated::Near(asked), found] {
    const std::uint64_t number = emulated::number_of(near.a, near.a.offsets, near.a.columns);
    for (std::size_t i = 0; i < emulated::workspace_words(near.a, near.c); ++i) found[i] = number + i;
  });
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a_op, cusparseOperation_t b_op,
                              const void* one, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void* workspace) {
  const Asked asked{handle, a_op, b_op, a, b, c, compute, algorithm};
  if (const cusparseStatus_t status = asked.status(); status != CUSPARSE_STATUS_SUCCESS) return status;
  if (!asked.has_room(workspace) || a->workspace != workspace || a->analysed != c->cols)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!emulated::is_captured(handle->stream)) ++emulated::products;
  const auto* found = static_cast<const std::uint64_t*>(workspace);
  emulated::bring_near(found);
  emulated::give(handle->stream, [near = emulated::Near(asked), found, one = *static_cast<const float*>(one),
                                  beta = *static_cast<const float*>(beta)] {
    const std::uint64_t number = emulated::number_of(near.a, near.a.offsets, near.a.columns);
    for (std::size_t i = 0; i < emulated::workspace_words(near.a, near.c); ++i)
      if (found[i] != number + i) emulated::end("cuSPARSE: the graph isn't the one that was analysed");
    near.multiply(one, beta);
  });
  return CUSPARSE_STATUS_SUCCESS;
}

namespace atl::cuda {

const SparseLibrary* sparse_library() {
  static constexpr SparseLibrary played{.create = cusparseCreate,
                                        .destroy = cusparseDestroy,
                                        .set_stream = cusparseSetStream,
                                        .error_string = cusparseGetErrorString,
                                        .create_csr = cusparseCreateConstCsr,
                                        .destroy_sparse = cusparseDestroySpMat,
                                        .create_read = cusparseCreateConstDnMat,
                                        .create_written = cusparseCreateDnMat,
                                        .destroy_dense = cusparseDestroyDnMat,
                                        .workspace_bytes = cusparseSpMM_bufferSize,
                                        .analyse = cusparseSpMM_preprocess,
                                        .multiply = cusparseSpMM};
  return emulated::offered ? &played : nullptr;
}

}  // namespace atl::cuda
