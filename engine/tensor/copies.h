// Copies between the host's memory and a device's. If they are the same memory, nothing is copied.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/context.h"
#include "tensor/rows.h"

namespace atl {

/// Makes arrays of the host readable to kernels of ctx's device: the arrays themselves, or copies. Results
/// are valid until restart(), and no longer than the host's arrays.
class DeviceCopies {
 public:
  /// The context outlives it.
  explicit DeviceCopies(Context& ctx) : ctx_(&ctx) {}
  DeviceCopies(DeviceCopies&&) = default;

  /// Begins again in the same memory. No work given to the stream later may read earlier copies.
  void restart() { next_ = 0, packed_.clear(), bits_.clear(); }

  template <class T>
  std::span<const T> of(std::span<const T> host) {
    return {static_cast<const T*>(copy(host.data(), host.size_bytes())), host.size()};
  }
  CsrView of(const CsrView& host);
  /// The copy has no padding between rows.
  ConstMatrixView of(ConstMatrixView host);
  Rows of(const Rows& host);

  /// Bytes of all copies.
  Index bytes() const;

 private:
  const void* copy(const void* host, std::size_t bytes);
  BitView of(const BitView& host);

  Context* ctx_;
  std::vector<Buffer<std::byte>> buffers_;  // one per copy, in the order of the requests
  std::size_t next_ = 0;
  std::deque<SparseRows> packed_;
  std::deque<BitRows> bits_;
};

/// Copies `bytes` bytes to the host, and waits until they are there.
void read(Context& ctx, const void* device, void* host, std::size_t bytes);
template <class T>
T read(Context& ctx, const T* device) {
  T host;
  read(ctx, device, &host, sizeof host);
  return host;
}
template <class T>
std::vector<T> read(Context& ctx, std::span<const T> device) {
  std::vector<T> host(device.size());
  read(ctx, device.data(), host.data(), device.size_bytes());
  return host;
}

/// Rows of a device's memory as Reals that the host can read. Waits for all work given to the stream before.
class HostRows {
 public:
  /// Valid until the next call.
  ConstMatrixView of(Context& ctx, ConstMatrixView device);

 private:
  Matrix whole_;  // on the device: for rows stored in halves, or with gaps between them
  Matrix copy_;
};

/// An array of a device's memory that the host reads or writes at rare points (checkpoints): the array
/// itself, or a copy. Waits for all work given to the device before.
class HostArray {
 public:
  HostArray(Device device, Real* data, Index count);
  HostArray(Device device, std::span<Real> values) : HostArray(device, values.data(), Index(values.size())) {}
  explicit HostArray(Matrix& m) : HostArray(m.device(), m.data(), m.rows() * m.cols()) {}
  Real* data() { return copy_.cols() > 0 ? copy_.data() : data_; }
  /// Copies what the host has written back to the device.
  void put();

 private:
  Device device_;
  Real* data_;
  Matrix copy_;  // (1, count), if a copy is needed
};

}  // namespace atl
