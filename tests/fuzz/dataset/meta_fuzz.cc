// Any bytes as meta.json, ours and the one of the neutral layout.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/import/neutral_meta.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    atl::parse_meta(text, "fuzz");
  } catch (const atl::Error&) {
  }
  try {
    atl::parse_neutral_meta(text, "fuzz");
  } catch (const atl::Error&) {
  }
  return 0;
}
