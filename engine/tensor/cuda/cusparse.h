// Sums over neighbours by cuSPARSE, if a run asks for it (`--sums cusparse`), and as the baseline with which
// `atoll bench ops` compares our kernels. It multiplies a sparse matrix in CSR with a dense one, by the
// algorithm whose results are the same bits in each run. It serves only arcs that don't change
// (DeviceStream::keep_arcs), because cuSPARSE wants 32-bit offsets, a value per arc, and an analysis per
// width of rows.
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

/// The arguments of spmm().
struct SumCall {
  const Arcs& arcs;
  ConstMatrixView x;
  MatrixView out;
  bool accumulate;
  const Epilogue& epilogue;
};

/// Belongs to one stream.
class CusparseSums {
 public:
  /// Null: the machine has no cuSPARSE, or Real is float64, for which it isn't used.
  static std::unique_ptr<CusparseSums> make(Stream& stream);
  ~CusparseSums();
  CusparseSums(const CusparseSums&) = delete;
  CusparseSums& operator=(const CusparseSums&) = delete;

  std::shared_ptr<const StayingArcs> keep(const Arcs& arcs);
  /// Sums, or returns false without giving the stream anything if cuSPARSE doesn't take the call: arcs that
  /// aren't kept, 2^31 or more of them, a row with a column twice, rows in halves. Throws Error with the
  /// call's name and cuSPARSE's own words if it fails.
  bool sum(Context& ctx, const SumCall& call);

 private:
  struct Kept;
  CusparseSums(Stream& stream, const SparseLibrary& library);
  const CusparseProduct* product_of(Context& ctx, Kept& kept, const SumCall& call);

  Stream& stream_;
  std::unique_ptr<CusparseHandle> handle_;
  std::map<const Index*, std::weak_ptr<Kept>> kept_;  // by their offsets
  std::uint64_t made_ = 0;                            // number of products so far
};

/// In arc_values.cu. Writes arcs in cuSPARSE's form, and waits until they are there. Returns whether the
/// columns of each row ascend.
bool fill_matrix(Context& ctx, const Arcs& arcs, int* offsets, float* values);

}  // namespace atl::cuda
