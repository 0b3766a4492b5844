// What every kernel is given: where it runs, with which threads, and scratch memory that is allocated once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "tensor/device_stream.h"
#include "tensor/matrix.h"

namespace atl {

/// Named scratch buffers that grow to their largest use during the first step and are reused ever after.
/// A name belongs to one kernel or one caller at a time. Not thread-safe: one per rank.
class Workspace {
 public:
  explicit Workspace(Device device = Device::kCpu) : device_(device) {}
  /// Batches come, of which none is as large as another: what grows from here on gets some room above.
  void expect_batches() { varies_ = true; }
  /// A (rows, cols) view of the buffer called `name`; its contents are undefined. Valid until the same name
  /// is asked for again with a larger size.
  MatrixView matrix(std::string_view name, Index rows, Index cols, Storage storage = Storage::kReals);
  /// The same buffers for (count) doubles: sums over rows are kept in double precision.
  std::span<double> doubles(std::string_view name, Index count);
  /// Bytes held now: a figure for `atoll plan` to be compared with.
  Index bytes() const;
  /// How often a buffer had to grow.
  std::int64_t reallocations() const { return reallocations_; }

 private:
  Device device_;
  bool varies_ = false;
  std::map<std::string, Matrix, std::less<>> buffers_;
  std::int64_t reallocations_ = 0;
};

class Constants;
struct ComputeWork;

/// Passed to every kernel; belongs to one rank. Operands and `workspace` are `device`'s memory, and work is
/// done in the order of `stream`. The pool is the host's, and a CPU's kernels'.
struct Context {
  Device device = Device::kCpu;
  ThreadPool* pool = nullptr;  // not owned, nor are these
  Workspace* workspace = nullptr;
  DeviceStream* stream = &host_stream();
  Storage values = Storage::kReals;  // of what layers compute, and of its gradients (training.precision)
  Constants* constants = nullptr;    // null: any operand may have changed since the last call
  // of a dry run: what its kernels would have done is added; null: nobody counts
  ComputeWork* count = nullptr;
};

// Operands that stay as they are for a while: what is made of one (a product's panels of its weights, a
// layer's mixed weights) serves the next calls, too.

/// What is made of an operand.
enum class Made {
  kPanels,
  kTransposedPanels,
  kRoundedPanels,
  kTransposedRounded,
  kPairs,
  kTransposedPairs,
  kMixed
};

/// One per rank; not thread-safe. What is kept lies in the rank's Workspace.
class Constants {
 public:
  /// Where something is made, and whether it is there already.
  struct Place {
    MatrixView values;
    bool is_made = false;
  };

  /// Nobody writes `values` from now until end(). What was kept before is made anew.
  void begin(std::span<const Real> values);
  void end() { values_ = {}; }

 private:
  friend Place place_of(Context& ctx, ConstMatrixView operand, Made made, std::string_view otherwise,
                        Index rows, Index cols);
  struct Kept {
    ConstMatrixView of;
    Made made;
    std::string name;              // in the workspace
    const Real* values = nullptr;  // there
    bool is_made = false;
  };

  /// Whether it is among the constants, or was made of one.
  bool is_constant(ConstMatrixView operand) const;
  Kept& kept(ConstMatrixView operand, Made made);

  std::span<const Real> values_;
  std::vector<Kept> kept_;  // a few for each layer
};

/// For (rows, cols) made of `operand`: kept where that is constant, and the caller fills what isn't made yet;
/// else the workspace's matrix `otherwise`, to be filled each time.
Constants::Place place_of(Context& ctx, ConstMatrixView operand, Made made, std::string_view otherwise,
                          Index rows, Index cols);

}  // namespace atl
