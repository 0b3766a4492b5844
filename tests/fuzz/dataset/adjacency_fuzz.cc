// Any bytes, gzipped or not, as an adjacency list.
#include "base/error.h"
#include "dataset/import/arc_lines.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  try {
    atl::read_adjacency_lines(file.path(), [](std::int64_t vertex, std::span<const std::int64_t> neighbours) {
      if (vertex < 0) __builtin_trap();
      for (const std::int64_t neighbour : neighbours)
        if (neighbour < 0) __builtin_trap();
    });
  } catch (const atl::Error&) {
  }
  return 0;
}
