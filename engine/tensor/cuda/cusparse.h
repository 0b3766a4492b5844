// Sums over neighbours by cuSPARSE, where a run asks for them by name (`--sums cusparse`), and as what `atoll
// bench ops` compares our kernels with: a product of a sparse matrix in CSR with a dense one, by the
// algorithm whose results are the same bits in each run. Of arcs that stay alone (DeviceStream::keep_arcs),
// for it wants 32-bit offsets and a value per arc, and an analysis per width of rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tensor/cuda/stream.h"
#include "tensor/kernels.h"

namespace atl::cuda {

struct SparseLibrary;
class CusparseHandle;
class CusparseProduct;

/// What spmm() is asked for.
struct SumCall {
  const Arcs& arcs;
  ConstMatrixView x;
  MatrixView out;
  bool accumulate;
  const Epilogue& epilogue;
};

/// One stream's.
class CusparseSums {
 public:
  /// Null: the machine has no cuSPARSE. In float64 it isn't used.
  static std::unique_ptr<CusparseSums> make(Stream& stream);
  ~CusparseSums();
  CusparseSums(const CusparseSums&) = delete;
  CusparseSums& operator=(const CusparseSums&) = delete;

  std::shared_ptr<const StayingArcs> keep(const Arcs& arcs);
  /// False: nothing has been given to the stream, for cuSPARSE doesn't take it: arcs that aren't kept, 2^31
  /// or more of them, a row with a column twice, rows in halves. Throws Error with the call's name and
  /// cuSPARSE's own words where it fails.
  bool sum(Context& ctx, const SumCall& call);

 private:
  struct Kept;
  CusparseSums(Stream& stream, const SparseLibrary& library);
  const CusparseProduct* product_of(Context& ctx, Kept& kept, const SumCall& call);

  Stream& stream_;
  std::unique_ptr<CusparseHandle> handle_;
  std::map<const Index*, std::weak_ptr<Kept>> kept_;  // by their offsets
  std::uint64_t made_ = 0;                            // products
};

/// arc_values.cu: arcs as cuSPARSE takes them; the host waits until they are there. Returns whether the
/// columns of each row ascend.
bool fill_matrix(Context& ctx, const Arcs& arcs, int* offsets, float* values);

}  // namespace atl::cuda
