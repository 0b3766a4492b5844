// Counts the allocations of a test program, by new and for matrices, and notes the largest. It replaces the
// program's allocation functions, so include it in one file only.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace atl {
inline std::atomic<long> allocations{0};
inline std::atomic<std::size_t> largest_allocation{0};  // in bytes; set it to 0 to begin anew
inline void count_allocation(std::size_t bytes) {
  ++allocations;
  std::size_t largest = largest_allocation;
  while (bytes > largest && !largest_allocation.compare_exchange_weak(largest, bytes)) {
  }
}
}  // namespace atl

namespace {
void* counted(std::size_t bytes) {
  atl::count_allocation(bytes);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
}  // namespace

// Not inlined, because GCC would warn of a free() of memory from new.
extern "C" void* aligned_alloc(std::size_t alignment,
                               std::size_t bytes) noexcept {  // for matrices (tensor/memory.cc)
  atl::count_allocation(bytes);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
