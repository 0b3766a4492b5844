// Memory that is written again and again, for one batch after another. It grows to the largest batch's size
// with some room above, and then stays. Its growth is counted, so that a run can show that its steps allocate
// nothing.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "base/types.h"

namespace atl {

template <class T>
class Reusable {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Index size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](Index i) { return data_[std::size_t(i)]; }
  const T& operator[](Index i) const { return data_[std::size_t(i)]; }
  std::span<T> span() { return {data_.get(), std::size_t(size_)}; }
  std::span<const T> span() const { return {data_.get(), std::size_t(size_)}; }
  std::span<const T> first(Index count) const { return span().first(std::size_t(count)); }

  /// Contents are undefined.
  std::span<T> take(Index count) {
    size_ = 0;
    return extend(count);
  }
  /// The first min(size, count) elements stay, the others are undefined.
  std::span<T> extend(Index count) {
    if (count > capacity_) grow(count);
    size_ = count;
    return span();
  }
  /// Makes room for `count` elements, so that pushes up to there move nothing.
  void reserve(Index count) {
    if (count > capacity_) grow(count);
  }
  void push(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[std::size_t(size_++)] = value;
  }

  /// How often the memory had to grow.
  Index reallocations() const { return reallocations_; }
  Index bytes() const { return capacity_ * Index(sizeof(T)); }

 private:
  /// A quarter more than is needed: batches differ by a little.
  void grow(Index count) {
    const Index capacity = count + count / 4 + 64;
    auto larger = std::make_unique_for_overwrite<T[]>(std::size_t(capacity));
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), std::size_t(std::min(size_, count)) * sizeof(T));
    data_ = std::move(larger);
    capacity_ = capacity;
    ++reallocations_;
  }

  std::unique_ptr<T[]> data_;
  Index size_ = 0, capacity_ = 0, reallocations_ = 0;
};

}  // namespace atl
