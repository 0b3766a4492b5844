#include "tensor/cuda/cusparse_library.h"

#include <dlfcn.h>

namespace atl::cuda {
namespace {

/// Results of dlopen() and dlsym().
struct Found {
  SparseLibrary calls{};
  bool all = false;

  template <class Call>
  void look_up(void* library, const char* name, Call& call) {
    call = reinterpret_cast<Call>(dlsym(library, name));
    all = all && call != nullptr;
  }
};

Found find() {
  Found found;
  dlopen("libnvJitLink.so.13", RTLD_NOW | RTLD_LOCAL);  // cuSPARSE needs it, and may not find it
  void* const library = dlopen("libcusparse.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return found;
  SparseLibrary& calls = found.calls;
  found.all = true;
  found.look_up(library, "cusparseCreate", calls.create);
  found.look_up(library, "cusparseDestroy", calls.destroy);
  found.look_up(library, "cusparseSetStream", calls.set_stream);
  found.look_up(library, "cusparseGetErrorString", calls.error_string);
  found.look_up(library, "cusparseCreateConstCsr", calls.create_csr);
  found.look_up(library, "cusparseDestroySpMat", calls.destroy_sparse);
  found.look_up(library, "cusparseCreateConstDnMat", calls.create_read);
  found.look_up(library, "cusparseCreateDnMat", calls.create_written);
  found.look_up(library, "cusparseDestroyDnMat", calls.destroy_dense);
  found.look_up(library, "cusparseSpMM_bufferSize", calls.workspace_bytes);
  found.look_up(library, "cusparseSpMM_preprocess", calls.analyse);
  found.look_up(library, "cusparseSpMM", calls.multiply);
  return found;
}

}  // namespace

const SparseLibrary* sparse_library() {
  static const Found found = find();
  return found.all ? &found.calls : nullptr;
}

}  // namespace atl::cuda
