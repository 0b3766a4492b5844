// An array in a device's memory, of whatever is no matrix: ids, labels, counts.
#pragma once

#include <memory>
#include <span>
#include <type_traits>

#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

/// Owning; movable. Contents are undefined after construction and resize(). Elements are on the device: a host that may not read
/// them there (Memory::is_hosts) copies them.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Buffer(Device device = Device::kCpu, Index size = 0) : data_(nullptr, ReleaseMemory{device}) {
    resize(size);
  }

  /// Keeps the memory where it suffices. True where it had to grow.
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

}  // namespace atl
