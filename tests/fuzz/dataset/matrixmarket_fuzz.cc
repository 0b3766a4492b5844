// Any bytes, gzipped or not, as a MatrixMarket file.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/import/arc_lines.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  for (bool weights : {false, true}) {
    try {
      atl::read_matrixmarket(
          file.path(), weights, [&](const atl::MatrixMarketHeader& header, const atl::MatrixEntry& entry) {
            const bool inside =
                entry.row >= 0 && entry.row < header.size && entry.column >= 0 && entry.column < header.size;
            if (!inside || (weights && entry.value < 0)) __builtin_trap();
          });
    } catch (const atl::Error&) {
    }
  }
  return 0;
}
