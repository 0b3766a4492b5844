// Copies between the host's memory and a device's, where these aren't one; where they are, nothing is copied.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/context.h"
#include "tensor/rows.h"

namespace atl {

/// Arrays of the host where kernels of ctx's device can read them: themselves, or copies. What it returns is
/// valid until restart(), and no longer than the host's arrays.
class DeviceCopies {
 public:
  /// The context outlives it.
  explicit DeviceCopies(Context& ctx) : ctx_(&ctx) {}
  DeviceCopies(DeviceCopies&&) = default;

  /// Begins anew, in the same memory. What was copied is read by nothing that the stream has yet to be given.
  void restart() { next_ = 0, packed_.clear(), bits_.clear(); }

  template <class T>
  std::span<const T> of(std::span<const T> host) {
    return {static_cast<const T*>(copy(host.data(), host.size_bytes())), host.size()};
  }
  CsrView of(const CsrView& host);
  /// Without padding between rows.
  ConstMatrixView of(ConstMatrixView host);
  Rows of(const Rows& host);

  /// Of all copies.
  Index bytes() const;

 private:
  const void* copy(const void* host, std::size_t bytes);
  BitView of(const BitView& host);

  Context* ctx_;
  std::vector<Buffer<std::byte>> buffers_;  // one a copy, in the order in which they were asked for
  std::size_t next_ = 0;
  std::deque<SparseRows> packed_;
  std::deque<BitRows> bits_;
};

/// Copies so many bytes to the host, and waits for the stream until they are there.
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

/// Rows of a device's memory as Reals where the host can read them, after all that its stream was given
/// before.
class HostRows {
 public:
  /// Valid until the next call.
  ConstMatrixView of(Context& ctx, ConstMatrixView device);

 private:
  Matrix whole_;  // on the device: of rows in halves
  Matrix copy_;
};

/// An array of a device's memory, as the host reads or writes it at rare points (checkpoints): itself, or a
/// copy. Waits for all that the device was given before.
class HostArray {
 public:
  HostArray(Device device, Real* data, Index count);
  HostArray(Device device, std::span<Real> values) : HostArray(device, values.data(), Index(values.size())) {}
  explicit HostArray(Matrix& m) : HostArray(m.device(), m.data(), m.rows() * m.cols()) {}
  Real* data() { return copy_.cols() > 0 ? copy_.data() : data_; }
  /// Puts what the host has written where it belongs.
  void put();

 private:
  Device device_;
  Real* data_;
  Matrix copy_;  // (1, count), where there is one
};

}  // namespace atl
