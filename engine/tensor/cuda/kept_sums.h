// Sums over arcs that stay (DeviceStream::keep_arcs): by our own kernels or by cuSPARSE, whichever was faster when a sum of the kind came
// for the first time. All other sums are our own kernels'.
//
// A kind is measured where it comes: both ways in turn, by the device's events, into the sum's own place, or beside it where something
// there is added to. The host waits for that, once. What cuSPARSE needs is kept where it was chosen, and only where it is a small part of
// the memory that is free then: the epoch's own comes to be later. Where it isn't, or where the choice couldn't be kept for the next run,
// the sum is our own kernels'.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tensor/cuda/stream.h"
#include "tensor/kernels.h"
#include "tensor/sum_choices.h"

namespace atl::cuda {

class SparseHandle;
class SparseSums;
struct SparseLibrary;

/// What spmm() is asked for.
struct SumCall {
  const Arcs& arcs;
  ConstMatrixView x;
  MatrixView out;
  bool accumulate;
  const Epilogue& epilogue;
};

/// spmm.cu
void sum_by_kernels(Context& ctx, const SumCall& call);

/// One stream's.
class KeptSums {
 public:
  /// Null: there is nothing to choose from.
  static std::unique_ptr<KeptSums> make(Stream& stream);
  ~KeptSums();
  KeptSums(const KeptSums&) = delete;
  KeptSums& operator=(const KeptSums&) = delete;

  std::shared_ptr<const StayingArcs> keep(const Arcs& arcs, SumChoices& choices, std::string_view name);
  /// False: it is our own kernels', and hasn't been given to the stream.
  bool sum_by_library(Context& ctx, const SumCall& call);

 private:
  struct Kept;
  KeptSums(Stream& stream, const SparseLibrary& library);
  Kept* find(const Arcs& arcs, std::shared_ptr<Kept>& held);
  const SparseSums* choose_for(Context& ctx, Kept& kept, const SumCall& call);
  const SparseSums* sums_for(Context& ctx, Kept& kept, const SumCall& call);
  SumChoice measure(Context& ctx, const SumCall& call, const SparseSums& sums);

  Stream& stream_;
  const SparseLibrary& library_;
  std::unique_ptr<SparseHandle> handle_;              // once it is needed
  std::map<const Index*, std::weak_ptr<Kept>> kept_;  // by their offsets
  std::uint64_t made_ = 0;                            // sums by cuSPARSE
};

}  // namespace atl::cuda
