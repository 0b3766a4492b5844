#include "tensor/backend.h"

#include "base/error.h"

namespace atl {
namespace {

const Backend* installed = nullptr;

}  // namespace

void install_backend(const Backend* backend) {
  installed = backend;
}

const Backend& backend() {
  if (installed == nullptr) fail("device cuda: this build of Atoll runs only on the CPU");
  return *installed;
}

}  // namespace atl
