#include "tensor/backend.h"

#include "base/error.h"

namespace atl {
namespace {

const Backend* installed = nullptr;

}  // namespace

void install_backend(const Backend* backend) {
  installed = backend;
}

bool has_backend() {
  return installed != nullptr;
}

const Backend& backend() {
  if (installed == nullptr)
    fail("device cuda: this build of Atoll runs only on the CPU; `make build-cuda` makes build/atoll-cuda");
  return *installed;
}

}  // namespace atl
