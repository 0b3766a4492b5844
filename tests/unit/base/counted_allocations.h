// Counts what a whole test program allocates, by new and for matrices. Its definitions are the program's:
// included in one file of it.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace atl {
inline std::atomic<long> allocations{0};
}  // namespace atl

namespace {
void* counted(std::size_t bytes) {
  ++atl::allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
}  // namespace

// None is inlined: GCC would warn of a free() for what new has returned.
extern "C" void* aligned_alloc(std::size_t alignment,
                               std::size_t bytes) noexcept {  // matrices' (tensor/memory.cc)
  ++atl::allocations;
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
