// Any bytes, gzipped or not, as an edge list.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/import/arc_lines.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  for (bool weights : {false, true}) {
    try {
      atl::read_snap_lines(file.path(), weights, [](const atl::IdArc& arc) {
        if (arc.src < 0 || arc.dst < 0) __builtin_trap();
      });
    } catch (const atl::Error&) {
    }
  }
  return 0;
}
