// Any bytes, gzipped or not, as a MatrixMarket file.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/matrixmarket_lines.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  try {
    atl::read_matrixmarket(
        file.path(), [](const atl::MatrixMarketHeader& header, const atl::MatrixEntry& entry) {
          if (entry.row < 0 || entry.row >= header.size || entry.column < 0 || entry.column >= header.size) {
            __builtin_trap();
          }
        });
  } catch (const atl::Error&) {
  }
  return 0;
}
