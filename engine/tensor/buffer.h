// An array in a device's memory for anything but matrices: ids, labels, counts.
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

/// An owning, movable array. Its contents are undefined after construction and resize(). Elements are in the
/// device's memory; a host that can't read this memory (Memory::is_hosts) copies them.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Buffer(Device device = Device::kCpu, Index size = 0) : data_(nullptr, ReleaseMemory{device}) {
    resize(size);
  }

  /// Keeps the memory if it is large enough. Returns whether it had to grow.
  bool resize(Index size) {
    size_ = size;
    if (size <= capacity_) return false;
    data_.reset();
    const Device device = data_.get_deleter().device;
    const Allocation memory = memory_of(device).allocate(std::size_t(size) * sizeof(T));
    data_.reset(static_cast<T*>(memory.data));
    capacity_ = Index(memory.bytes / sizeof(T));
    return true;
  }

  Index size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::span<T> span() { return {data(), std::size_t(size_)}; }
  std::span<const T> span() const { return {data(), std::size_t(size_)}; }
  Index held_bytes() const { return capacity_ * Index(sizeof(T)); }

 private:
  std::unique_ptr<T, ReleaseMemory> data_;
  Index size_ = 0, capacity_ = 0;
};

/// Owns pinned memory (tensor/memory.h); movable. Its contents are undefined after resize().
class PinnedBuffer {
 public:
  /// For copies on this device's streams.
  explicit PinnedBuffer(Device device) : device_(device) {}
  ~PinnedBuffer() { release(); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : device_(other.device_), memory_(std::exchange(other.memory_, {})) {}
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  /// Keeps the memory if it is large enough. Returns whether it had to grow: then no stream may still use the
  /// old memory.
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
