#include "tensor/copies.h"

#include "base/error.h"
#include "tensor/kernels.h"

namespace atl {

const void* DeviceCopies::copy(const void* host, std::size_t bytes) {
  if (memory_of(ctx_->device).is_hosts) return host;
  if (bytes == 0) return nullptr;
  if (next_ == buffers_.size()) buffers_.emplace_back(ctx_->device);
  Buffer<std::byte>& buffer = buffers_[next_++];
  buffer.resize(Index(bytes));
  ctx_->stream->upload(buffer.data(), host, bytes);
  return buffer.data();
}

CsrView DeviceCopies::of(const CsrView& host) {
  if (memory_of(ctx_->device).is_hosts || host.offsets == nullptr) return host;
  ATOLL_CHECK(host.rows == 0 || host.offsets[0] == 0, "arcs from {} on", host.offsets[0]);
  const auto arcs = std::size_t(host.arcs());
  CsrView view = host;
  view.offsets = of(std::span(host.offsets, std::size_t(host.rows) + 1)).data();
  view.columns = of(std::span(host.columns, arcs)).data();
  if (host.weights != nullptr) view.weights = of(std::span(host.weights, arcs)).data();
  return view;
}

ConstMatrixView DeviceCopies::of(ConstMatrixView host) {
  ATOLL_CHECK(host.contiguous(), "rows of stride {} with {} columns", host.stride, host.cols);
  if (host.empty()) return host;
  if (host.halves != nullptr)
    return {of(std::span(host.halves, std::size_t(host.rows * host.cols))).data(), host.rows, host.cols};
  return {of(std::span(host.data, std::size_t(host.rows * host.cols))).data(), host.rows, host.cols};
}

BitView DeviceCopies::of(const BitView& host) {
  BitView view = host;
  view.words = of(std::span(host.words, std::size_t(host.rows * host.row_words()))).data();
  return view;
}

Rows DeviceCopies::of(const Rows& host) {
  if (memory_of(ctx_->device).is_hosts) return host;
  if (host.sparse != nullptr)
    return &packed_.emplace_back(SparseRows{of(host.sparse->csr), of(host.sparse->transpose)});
  if (host.bits == nullptr) return of(host.dense);
  const std::span levels(host.bits->levels, std::size_t(host.bits->bits.rows));
  return &bits_.emplace_back(BitRows{of(host.bits->bits), of(host.bits->transpose), of(levels).data()});
}

Index DeviceCopies::bytes() const {
  Index sum = 0;
  for (const auto& each : buffers_) sum += each.held_bytes();
  return sum;
}

void read(Context& ctx, const void* device, void* host, std::size_t bytes) {
  if (bytes > 0) ctx.stream->download(host, device, bytes);
  ctx.stream->synchronise();
}

ConstMatrixView HostRows::of(Context& ctx, ConstMatrixView device) {
  const bool is_hosts = memory_of(ctx.device).is_hosts;
  if (device.halves != nullptr || (!is_hosts && !device.contiguous())) {
    whole_.resize(device.rows, device.cols, ctx.device);
    axpby(ctx, 1, device, 0, whole_);
    device = whole_;
  }
  if (is_hosts || device.empty()) return device;
  copy_.resize(device.rows, device.cols);
  read(ctx, device.data, copy_.data(), std::size_t(copy_.bytes()));
  return copy_;
}

HostArray::HostArray(Device device, Real* data, Index count) : device_(device), data_(data) {
  if (memory_of(device).is_hosts || count == 0) return;
  copy_.resize(1, count);
  memory_of(device).download(copy_.data(), data, std::size_t(copy_.bytes()));
}

void HostArray::put() {
  if (copy_.cols() > 0) memory_of(device_).upload(data_, copy_.data(), std::size_t(copy_.bytes()));
}

}  // namespace atl
