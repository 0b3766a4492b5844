// Sums over neighbours by cuSPARSE: its product of a sparse matrix in CSR with a dense one, by the algorithm whose results are the same
// bits in each run. It wants 32-bit offsets and a value per arc, which are made once per graph, and an analysis per width of rows.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/buffer.h"
#include "tensor/cuda/recording.h"
#include "tensor/cuda/sparse_library.h"
#include "tensor/kernels.h"

namespace atl::cuda {

/// Arcs as cuSPARSE takes them. Its manual doesn't ensure results where a row has a column twice. Its analysis counts rows by how many
/// arcs they have: of a row with more arcs than the matrix has columns it counted behind its workspace (compute-sanitizer on an H200, 11 rows
/// of 27 columns, one with 100 arcs), and sums were wrong after that.
struct SparseMatrix {
  /// `count`: of the arcs, fewer than 2^31. Filled in ctx's order; the host waits until it is.
  SparseMatrix(Context& ctx, const Arcs& arcs, Index count);
  static Index bytes(const Arcs& arcs, Index count) { return 4 * (arcs.csr.rows + 1) + 4 * count; }

  Index rows, cols, count;
  bool
      has_no_column_twice;  // each row's ascend, as those of all our graphs do; otherwise SparseSums may not have it
  Buffer<int> offsets;      // (rows + 1)
  const VertexId* columns;  // (count) the arcs' own
  Buffer<float>
      values;  // (count) row_scale · col_scale · weight: where one is 0, an infinite source gives NaN
};
/// Whether the columns of each row ascend. (arc_values.cu)
bool fill_matrix(Context& ctx, const Arcs& arcs, int* offsets, float* values);

/// What a stream asks cuSPARSE through.
class SparseHandle {
 public:
  SparseHandle(const SparseLibrary& library, cudaStream_t stream);
  ~SparseHandle();
  SparseHandle(const SparseHandle&) = delete;
  SparseHandle& operator=(const SparseHandle&) = delete;

  /// Whether there is one: cuSPARSE may find that it can't have what it needs.
  bool is_open() const { return handle_ != nullptr; }
  const SparseLibrary& library() const { return library_; }
  cusparseHandle_t get() const { return handle_; }
  /// Throws Error with the call's name and cuSPARSE's own words where it has failed.
  void must(cusparseStatus_t status, const char* call) const;

 private:
  const SparseLibrary& library_;
  cusparseHandle_t handle_ = nullptr;
};

/// out (+)= matrix · x for rows of one width.
class SparseSums {
 public:
  /// Null: the matrix has a column twice in a row, or cuSPARSE refuses it, or asks for more workspace than `most_bytes`. `number`: no other of the stream's has it. The matrix and the
  /// handle outlive what give() gives.
  static std::unique_ptr<SparseSums> make(const SparseHandle& handle, const SparseMatrix& matrix,
                                          ConstMatrixView x, MatrixView out, Index most_bytes,
                                          std::uint64_t number);
  ~SparseSums();
  SparseSums(const SparseSums&) = delete;
  SparseSums& operator=(const SparseSums&) = delete;

  void give(Context& ctx, ConstMatrixView x, MatrixView out, bool accumulate) const;

 private:
  SparseSums(const SparseHandle& handle, const SparseMatrix& matrix, std::uint64_t number);
  bool analyse(ConstMatrixView x, MatrixView out, Index most_bytes);
  struct Call;
  static void run(const Target& on, const Call& call);

  const SparseHandle& handle_;
  const SparseLibrary& library_;  // the handle may go before this does
  std::uint64_t number_;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  Buffer<std::byte> workspace_{Device::kCuda};  // with what the analysis found
};

}  // namespace atl::cuda
