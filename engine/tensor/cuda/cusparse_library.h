// cuSPARSE's calls, found when a program runs: it starts on machines that lack the library, and sums are then
// our own kernels' alone.
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

/// Null where there is none, or none with all of these.
const SparseLibrary* sparse_library();

}  // namespace atl::cuda
