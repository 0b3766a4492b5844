// Counts a thread's calls to its GPU, for tests.
#include "streams.h"

namespace emulated {
namespace {

thread_local std::int64_t waits = 0, freed = 0, allocated = 0, allocated_in_all = 0;
thread_local Copies copied{0, 0};

}  // namespace

std::int64_t host_waits() {
  return waits;
}
void count_wait() {
  ++waits;
}
std::int64_t frees() {
  return freed;
}
Copies copies() {
  return copied;
}
std::int64_t allocations() {
  return allocated;
}
std::int64_t allocated_bytes() {
  return allocated_in_all;
}

void count_free() {
  ++freed;
}
void count_copy(std::size_t bytes) {
  ++copied.calls;
  copied.bytes += std::int64_t(bytes);
}
void count_allocation(std::size_t bytes) {
  ++allocated;
  allocated_in_all += std::int64_t(bytes);
}

}  // namespace emulated
