#include "tensor/cuda/kept_sums.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <utility>

#include "tensor/copies.h"
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/event_timer.h"
#include "tensor/cuda/sparse_sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr int kRounds = 3, kCalls = 4;  // of each way
constexpr Index kShare = 8;             // what cuSPARSE needs is at most so small a part of the free memory

/// Sums over the same arcs that take the same time.
struct Shape {
  Index columns;
  bool accumulated, fused;
  auto operator<=>(const Shape&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy errs
};

Shape shape_of(const SumCall& call) {
  const simd::Finish finish = plain(call.epilogue);
  return {call.out.cols, call.accumulate, !finish.nothing && !finish.layer_norm};
}

/// What follows is a pass of its own.
void sum_and_finish(Context& ctx, const SumCall& call, const SparseSums& sums) {
  sums.give(ctx, call.x, call.out, call.accumulate);
  cuda::apply(ctx, call.epilogue, call.out, call.out);
}

bool same_arcs(const Arcs& a, const Arcs& b) {
  return a.csr.rows == b.csr.rows && a.csr.cols == b.csr.cols && a.csr.offsets == b.csr.offsets &&
         a.csr.columns == b.csr.columns && a.csr.weights == b.csr.weights && a.row_scale == b.row_scale &&
         a.col_scale == b.col_scale;
}

/// Whether cuSPARSE takes so many arcs, with 32-bit offsets.
bool is_taken(const CsrView& csr, Index count) {
  return count > 0 && count <= std::numeric_limits<int>::max() && count <= csr.rows * csr.cols;
}

Index affordable_bytes() {
  std::size_t free = 0, total = 0;
  ATOLL_MUST(cudaMemGetInfo(&free, &total));
  return Index(free) / kShare;
}

/// Reals to put a call's result into that may not go to its place, which begin where in a cache's line that does.
Index scratch_reals(const SumCall& call) {
  return call.accumulate ? call.out.rows * call.out.stride + 32 : 0;
}
MatrixView beside(const SumCall& call, Real* scratch) {
  const std::uintptr_t in_line = reinterpret_cast<std::uintptr_t>(call.out.data) % 128;
  return {scratch + in_line / sizeof(Real), call.out.rows, call.out.cols, call.out.stride};
}

}  // namespace

/// Arcs, and what of cuSPARSE's is kept for them.
struct KeptSums::Kept final : StayingArcs {
  Kept(const Arcs& arcs_, SumChoices& choices_, std::string_view name_)
      : arcs(arcs_), choices(choices_), name(name_) {}
  ~Kept() override { Stream::settle(); }  // calls that are held back read it
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  SumKind kind_of(const Shape& shape) const {
    return {name, arcs.csr.rows, arcs.csr.cols, *count, shape.columns, shape.accumulated, shape.fused};
  }
  /// Frees what no way takes.
  void drop_unused() {
    std::erase_if(sums, [&](const auto& each) {
      return std::ranges::none_of(ways, [&](const auto& way) { return way.second == each.second.get(); });
    });
    if (sums.empty()) matrix.reset();
  }

  Arcs arcs;
  SumChoices& choices;
  std::string name;
  std::optional<Index> count;                         // of the arcs, once the host has asked
  std::unique_ptr<SparseMatrix> matrix;               // null: nothing needs it
  std::map<Index, std::unique_ptr<SparseSums>> sums;  // by columns
  std::map<Shape, const SparseSums*> ways;            // null: our own kernels
};

std::unique_ptr<KeptSums> KeptSums::make(Stream& stream) {
  if constexpr (sizeof(Real) != sizeof(float)) return nullptr;
  const SparseLibrary* const library = sparse_library();
  if (library == nullptr) return nullptr;
  return std::unique_ptr<KeptSums>(new KeptSums(stream, *library));
}

KeptSums::KeptSums(Stream& stream, const SparseLibrary& library) : stream_(stream), library_(library) {}
KeptSums::~KeptSums() = default;

std::shared_ptr<const StayingArcs> KeptSums::keep(const Arcs& arcs, SumChoices& choices,
                                                  std::string_view name) {
  if (arcs.csr.rows == 0 || arcs.csr.offsets == nullptr) return nullptr;
  cudaDeviceProp properties{};
  ATOLL_MUST(cudaGetDeviceProperties(&properties, stream_.gpu()));
  choices.open(properties.name);
  std::erase_if(kept_, [](const auto& each) { return each.second.expired(); });
  auto kept = std::make_shared<Kept>(arcs, choices, name);
  kept_[arcs.csr.offsets] = kept;
  return kept;
}

/// Null: nobody holds such arcs. `held` keeps them while they are used.
KeptSums::Kept* KeptSums::find(const Arcs& arcs, std::shared_ptr<Kept>& held) {
  const auto found = kept_.find(arcs.csr.offsets);
  if (found == kept_.end()) return nullptr;
  held = found->second.lock();
  return held != nullptr && same_arcs(held->arcs, arcs) ? held.get() : nullptr;
}

bool KeptSums::sum_by_library(Context& ctx, const SumCall& call) {
  std::shared_ptr<Kept> held;
  Kept* const kept = find(call.arcs, held);
  if (kept == nullptr || call.x.halves != nullptr || call.out.halves != nullptr) return false;
  const Shape shape = shape_of(call);
  auto way = kept->ways.find(shape);
  if (way == kept->ways.end()) {
    const Stream::AtOnce at_once(stream_);
    stream_.synchronise();  // whatever it waits for isn't the sum's time
    way = kept->ways.emplace(shape, choose_for(ctx, *kept, call)).first;
    kept->drop_unused();
  }
  if (way->second == nullptr) return false;
  sum_and_finish(ctx, call, *way->second);
  return true;
}

const SparseSums* KeptSums::choose_for(Context& ctx, Kept& kept, const SumCall& call) {
  if (!kept.count) kept.count = read(ctx, kept.arcs.csr.offsets + kept.arcs.csr.rows);
  if (!is_taken(kept.arcs.csr, *kept.count)) return nullptr;
  const SumKind kind = kept.kind_of(shape_of(call));
  const SumChoice* choice = kept.choices.find(kind);
  if (choice != nullptr ? !choice->takes_library : !kept.choices.can_keep()) return nullptr;
  const SparseSums* const sums = sums_for(ctx, kept, call);
  if (sums != nullptr && choice == nullptr) choice = kept.choices.add(kind, measure(ctx, call, *sums));
  return choice != nullptr && choice->takes_library ? sums : nullptr;
}

/// Null: cuSPARSE refuses, or there isn't enough memory.
const SparseSums* KeptSums::sums_for(Context& ctx, Kept& kept, const SumCall& call) {
  if (const auto found = kept.sums.find(call.out.cols); found != kept.sums.end()) return found->second.get();
  Index bytes = affordable_bytes() - scratch_reals(call) * Index(sizeof(Real));
  if (kept.matrix == nullptr) bytes -= SparseMatrix::bytes(kept.arcs, *kept.count);
  if (bytes < 0) return nullptr;
  if (handle_ == nullptr) handle_ = std::make_unique<SparseHandle>(library_, stream_.stream());
  if (!handle_->is_open()) return nullptr;
  if (kept.matrix == nullptr) kept.matrix = std::make_unique<SparseMatrix>(ctx, kept.arcs, *kept.count);
  auto sums = SparseSums::make(*handle_, *kept.matrix, call.x, call.out, bytes, ++made_);
  if (sums == nullptr) return nullptr;
  return kept.sums.emplace(call.out.cols, std::move(sums)).first->second.get();
}

SumChoice KeptSums::measure(Context& ctx, const SumCall& call, const SparseSums& sums) {
  Buffer<Real> scratch(ctx.device, scratch_reals(call));
  const SumCall tried{call.arcs, call.x, call.accumulate ? beside(call, scratch.data()) : call.out,
                      call.accumulate, call.epilogue};
  EventTimer timer(stream_.stream());
  const auto by_kernels = [&] { sum_by_kernels(ctx, tried); };
  const auto by_library = [&] { sum_and_finish(ctx, tried, sums); };
  by_kernels(), by_library();  // what a first call loads
  double own = std::numeric_limits<double>::infinity(), library = own;
  for (int round = 0; round < kRounds; ++round) {
    own = std::min(own, timer.milliseconds(kCalls, by_kernels));
    library = std::min(library, timer.milliseconds(kCalls, by_library));
  }
  return choose(own, library);
}

}  // namespace atl::cuda
