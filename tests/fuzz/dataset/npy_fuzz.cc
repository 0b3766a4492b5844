// Any bytes as a .npy array: an Error or numbers, nothing else.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/format/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const atl::NpyArray array =
        atl::NpyArray::over({reinterpret_cast<const char*>(data), size}, "fuzz", nullptr);
    if (array.size() <= 1 << 20 && is_text(array.dtype())) {
      array.strings();
    } else if (array.size() <= 1 << 20) {
      array.read<float>();
      array.read<std::int32_t>();
    }
  } catch (const atl::Error&) {
  }
  return 0;
}
