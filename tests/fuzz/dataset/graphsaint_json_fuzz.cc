// Any bytes, gzipped or not, as GraphSAINT's class_map.json and role.json of 16 vertices.
#include <cstdint>

#include "base/error.h"
#include "dataset/import/graphsaint.h"
#include "memory_file.h"

namespace {

constexpr atl::Index kVertices = 16;

void check_class_map(const atl::MemoryFile& file) {
  const atl::GraphSaintClasses found = atl::read_class_map(file.path(), kVertices);
  const bool multi_label = found.classes > 0;
  if (found.targets.size() != std::size_t(kVertices * found.classes)) __builtin_trap();
  if (found.labels.size() != (multi_label ? 0u : std::size_t(kVertices))) __builtin_trap();
  for (std::uint8_t target : found.targets) {
    if (target > 1) __builtin_trap();
  }
}

void check_roles(const atl::MemoryFile& file) {
  for (std::uint8_t part : atl::read_roles(file.path(), kVertices).values) {
    if (part > std::uint8_t(atl::Split::kTest)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const atl::MemoryFile file(data, size);
  for (auto* check : {check_class_map, check_roles}) {
    try {
      check(file);
    } catch (const atl::Error&) {
    }
  }
  return 0;
}
