// What every kernel is given: where it runs, with which threads, and scratch memory that is allocated once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/threads.h"
#include "tensor/matrix.h"

namespace atl {

/// Named scratch buffers that grow to their largest use during the first step and are reused ever after.
/// A name belongs to one kernel or one caller at a time. Not thread-safe: one per rank.
class Workspace {
 public:
  explicit Workspace(Device device = Device::kCpu) : device_(device) {}
  /// A (rows, cols) view of the buffer called `name`; its contents are undefined. Valid until the same name
  /// is asked for again with a larger size.
  MatrixView matrix(std::string_view name, Index rows, Index cols);
  /// The same buffers for (count) doubles: sums over rows are kept in double precision.
  std::span<double> doubles(std::string_view name, Index count);
  /// Bytes held now: a figure for `atoll plan` to be compared with.
  Index bytes() const;

 private:
  Device device_;
  std::map<std::string, Matrix, std::less<>> buffers_;
};

/// Passed to every kernel; belongs to one rank. Operands and `workspace` are `device`'s memory. On a GPU it will carry
/// the stream as well, and waiting on an event will order that stream instead of blocking the host.
struct Context {
  Device device = Device::kCpu;
  ThreadPool* pool = nullptr;      // not owned
  Workspace* workspace = nullptr;  // not owned
};

}  // namespace atl
