// The context of every kernel: where it runs, with which threads, and with scratch memory that is allocated
// once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "base/threads.h"
#include "tensor/device_stream.h"
#include "tensor/matrix.h"

namespace atl {

/// Names a scratch buffer by its own address: `static constexpr ScratchKey kDot;` in the function that uses
/// it. So functions share a buffer only if they name the same object, a wrong name doesn't compile, and a
/// look-up compares no text. If several functions, or the instances of a template, share a buffer on purpose,
/// the key stands where all of them see it.
class ScratchKey {
 public:
  explicit constexpr ScratchKey() {}
  ScratchKey(const ScratchKey&) = delete;
  ScratchKey& operator=(const ScratchKey&) = delete;
};

/// Scratch buffers, which grow to their largest use during the first step and are reused from then on. Each
/// belongs to one kernel or one caller at a time. Not thread-safe: one per rank.
class Workspace {
 public:
  explicit Workspace(Device device = Device::kCpu) : device_(device) {}
  /// Announces batches of varying size, so buffers that grow from now on get some extra room.
  void expect_batches() { varies_ = true; }
  /// A (rows, cols) view of the buffer `of`; its contents are undefined. Valid until the same buffer is asked
  /// for again with a larger size.
  MatrixView matrix(const ScratchKey& of, Index rows, Index cols, Storage storage = Storage::kReals);
  /// The same for (count) doubles, because sums over rows are kept in double precision.
  std::span<double> doubles(const ScratchKey& of, Index count);
  /// Bytes held now, which `atoll plan` predicts.
  Index bytes() const;
  /// How often a buffer had to grow.
  std::int64_t reallocations() const { return reallocations_; }

 private:
  Device device_;
  bool varies_ = false;
  std::map<const ScratchKey*, Matrix> buffers_;
  std::int64_t reallocations_ = 0;
};

class Constants;
struct ComputeWork;

/// Passed to every kernel; belongs to one rank. Operands and `workspace` are in `device`'s memory, and work
/// is done in the order of `stream`. Host code and a CPU's kernels use the pool.
struct Context {
  Device device = Device::kCpu;
  ThreadPool* pool = nullptr;  // not owned, like the pointers below
  Workspace* workspace = nullptr;
  DeviceStream* stream = &host_stream();
  Storage values = Storage::kReals;  // storage of layers' values and their gradients (training.precision)
  Constants* constants = nullptr;    // null: any operand may have changed since the last call
  // gets the work that a dry run's kernels would have done; null: nobody counts
  ComputeWork* count = nullptr;
};

// Operands that stay unchanged for a while. What is derived from one (a product's panels of its weights, a
// layer's mixed weights) then serves later calls too.

/// The kinds of derived values.
enum class Made {
  kPanels,
  kTransposedPanels,
  kRoundedPanels,
  kTransposedRounded,
  kPairs,
  kTransposedPairs,
  kMixed
};

/// Knows which operands are constant, and keeps the values derived from them in the rank's Workspace. One per
/// rank; not thread-safe.
class Constants {
 public:
  /// Where derived values are stored, and whether they are there already.
  struct Place {
    MatrixView values;
    bool is_made = false;
  };

  /// Makes `values` constants until end(): nobody writes them in the meantime. Values derived before are made
  /// again.
  void begin(std::span<const Real> values);
  void end() { values_ = {}; }

 private:
  friend Place place_of(Context& ctx, ConstMatrixView operand, Made made, const ScratchKey& otherwise,
                        Index rows, Index cols);
  struct Kept {
    Kept(ConstMatrixView of_, Made made_) : of(of_), made(made_) {}
    ConstMatrixView of;
    Made made;
    ScratchKey key;                // in the workspace
    const Real* values = nullptr;  // where the derived values are in the workspace
    bool is_made = false;
  };

  /// Whether the operand is among the constants, or was derived from one.
  bool is_constant(ConstMatrixView operand) const;
  Kept& kept(ConstMatrixView operand, Made made);

  std::span<const Real> values_;
  std::deque<Kept> kept_;  // a few per layer; they stay where they are
};

/// The place for (rows, cols) derived from `operand`. If the operand is constant, the place is kept, and the
/// caller fills it only once. Otherwise the place is the workspace's matrix `otherwise`, filled each time.
Constants::Place place_of(Context& ctx, ConstMatrixView operand, Made made, const ScratchKey& otherwise,
                          Index rows, Index cols);

}  // namespace atl
