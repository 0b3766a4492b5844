// The host's memory that a device's streams copy to and from when they come to it.
#pragma once

#include <utility>

#include "tensor/memory.h"

namespace atl {

/// Owning; movable. Contents are undefined after resize().
class PinnedBuffer {
 public:
  /// For streams of this device.
  explicit PinnedBuffer(Device device) : device_(device) {}
  ~PinnedBuffer() { release(); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : device_(other.device_), memory_(std::exchange(other.memory_, {})) {}
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  /// Keeps the memory where it suffices. True where it had to grow: then no stream may have any use of it left.
  bool resize(std::size_t bytes) {
    if (bytes <= memory_.bytes) return false;
    release();
    memory_ = allocator().allocate_pinned != nullptr ? allocator().allocate_pinned(bytes)
                                                     : host_memory().allocate(bytes);
    return true;
  }
  std::byte* data() const { return static_cast<std::byte*>(memory_.data); }
  std::size_t bytes() const { return memory_.bytes; }

 private:
  const Memory& allocator() const { return memory_of(device_); }
  void release() {
    if (memory_.data == nullptr) return;
    allocator().allocate_pinned != nullptr ? allocator().release_pinned(memory_.data)
                                           : host_memory().release(memory_.data);
    memory_ = {};
  }

  Device device_;
  Allocation memory_;
};

}  // namespace atl
