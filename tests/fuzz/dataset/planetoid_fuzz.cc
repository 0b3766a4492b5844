// Any bytes as one of the Planetoid pickles, whichever it may be.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/format/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto attempt = [](auto&& read) {
    try {
      read();
    } catch (const atl::Error&) {
    }
  };
  attempt([&] {
    const atl::Pickle pickle =
        atl::Pickle::over({reinterpret_cast<const char*>(data), size}, "fuzz", nullptr);
    attempt([&] { pickle.csr(); });
    attempt([&] { pickle.array(); });
    attempt([&] { pickle.for_each_in_lists([](std::int64_t, std::int64_t) {}); });
  });
  return 0;
}
