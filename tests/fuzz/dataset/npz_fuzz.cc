// Any bytes as an .npz archive and, where the arrays are there, as a CSR matrix.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "dataset/format/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const atl::NpzFile archive =
        atl::NpzFile::over({reinterpret_cast<const char*>(data), size}, "fuzz", nullptr);
    for (const std::string& name : archive.names()) {
      try {
        archive.read(name);
      } catch (const atl::Error&) {
      }
    }
    const atl::NpzCsr matrix{16, 16, archive.read("indptr"), archive.read("indices"), archive.read("data")};
    atl::check_csr(matrix, "fuzz");
  } catch (const atl::Error&) {
  }
  return 0;
}
