// Any bytes, gzipped or not, as rows of numbers; whole ones as ids.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/import/ogb_files.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  try {
    atl::CsvRows rows(file.path());
    std::vector<double> row;
    while (rows.next(row)) {
      for (double value : row) {
        if (rows.as_vertex(value) < 0) __builtin_trap();
      }
    }
  } catch (const atl::Error&) {
  }
  return 0;
}
