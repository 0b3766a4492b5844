// Replaces cuSPARSE's header: its product of a sparse matrix with a dense one, emulated by plain loops that
// refuse what cuSPARSE's manual refuses. Only the layouts and types that Atoll uses are emulated.
#pragma once

#include <cublas_v2.h>  // the types of numbers

using cudaDataType = cudaDataType_t;

enum cusparseStatus_t {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
};
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1 };
enum cusparseIndexType_t { CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12 };

struct cusparseContext;
struct cusparseSpMatDescr;
struct cusparseDnMatDescr;
using cusparseHandle_t = cusparseContext*;
using cusparseConstSpMatDescr_t = const cusparseSpMatDescr*;
using cusparseDnMatDescr_t = cusparseDnMatDescr*;
using cusparseConstDnMatDescr_t = const cusparseDnMatDescr*;

const char* cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, std::int64_t rows,
                                        std::int64_t cols, std::int64_t count, const void* offsets,
                                        const void* columns, const void* values,
                                        cusparseIndexType_t offsets_type, cusparseIndexType_t columns_type,
                                        cusparseIndexBase_t base, cudaDataType values_type);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* matrix, std::int64_t rows,
                                          std::int64_t cols, std::int64_t distance, const void* values,
                                          cudaDataType type, cusparseOrder_t order);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, std::int64_t rows, std::int64_t cols,
                                     std::int64_t distance, void* values, cudaDataType type,
                                     cusparseOrder_t order);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void* one,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, std::size_t* bytes);
/// From here on the workspace belongs to the matrix and must not change.
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t a_op,
                                         cusparseOperation_t b_op, const void* one,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, void* workspace);
/// C = one · A · B + beta · C. cuSPARSE can do this without a prior analysis of A, slowly; here that is
/// refused.
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a_op, cusparseOperation_t b_op,
                              const void* one, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void* workspace);
