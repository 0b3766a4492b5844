// cuSPARSE's functions, looked up when a program runs. A program thus starts on machines without the library,
// and only our own kernels sum there.
#pragma once

#include <cusparse.h>

namespace atl::cuda {

struct SparseLibrary {
  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseGetErrorString) error_string;
  decltype(&cusparseCreateConstCsr) create_csr;
  decltype(&cusparseDestroySpMat) destroy_sparse;
  decltype(&cusparseCreateConstDnMat) create_read;
  decltype(&cusparseCreateDnMat) create_written;
  decltype(&cusparseDestroyDnMat) destroy_dense;
  decltype(&cusparseSpMM_bufferSize) workspace_bytes;
  decltype(&cusparseSpMM_preprocess) analyse;
  decltype(&cusparseSpMM) multiply;
};

/// Null if the library, or any of these functions, is missing.
const SparseLibrary* sparse_library();

}  // namespace atl::cuda
