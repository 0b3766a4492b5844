// Any bytes, gzipped or not, as a METIS graph file. An accepted graph has each edge at both ends.
#include "base/error.h"
#include "dataset/import/arc_lines.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  atl::Index arcs = 0;
  try {
    const atl::MetisHeader header =
        atl::read_metis(file.path(), [&](const atl::MetisHeader& h, const atl::MetisArc& arc) {
          const bool valid = arc.vertex >= 0 && arc.neighbour >= 0 && arc.vertex < h.vertices &&
                             arc.neighbour < h.vertices && arc.weight > 0;
          if (!valid) __builtin_trap();
          ++arcs;
        });
    if (arcs != 2 * header.edges) __builtin_trap();
  } catch (const atl::Error&) {
  }
  return 0;
}
