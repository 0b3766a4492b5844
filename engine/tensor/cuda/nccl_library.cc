#include "tensor/cuda/nccl_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace atl::cuda {
namespace {

constexpr const char* kFile = "libnccl.so.2";

/// Results of dlopen() and dlsym(), and what they didn't find.
struct Found {
  Nccl calls{};
  std::string missing;

  template <class Call>
  void look_up(void* library, const char* name, Call& call) {
    call = reinterpret_cast<Call>(dlsym(library, name));
    if (call == nullptr) missing = fmt::format("{} is too old: it lacks {}", kFile, name);
  }
};

Found find() {
  Found found;
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    found.missing = fmt::format("NCCL is missing: {}", dlerror());
    return found;
  }
  Nccl& calls = found.calls;
  found.look_up(library, "ncclGetVersion", calls.get_version);
  found.look_up(library, "ncclGetUniqueId", calls.get_unique_id);
  found.look_up(library, "ncclCommInitRankConfig", calls.init);
  found.look_up(library, "ncclCommGetAsyncError", calls.get_async_error);
  found.look_up(library, "ncclCommFinalize", calls.finalize);
  found.look_up(library, "ncclCommDestroy", calls.destroy);
  found.look_up(library, "ncclCommAbort", calls.abort);
  found.look_up(library, "ncclGetErrorString", calls.error_string);
  found.look_up(library, "ncclGetLastError", calls.last_error);
  found.look_up(library, "ncclGroupStart", calls.group_start);
  found.look_up(library, "ncclGroupEnd", calls.group_end);
  found.look_up(library, "ncclSend", calls.send);
  found.look_up(library, "ncclRecv", calls.receive);
  found.look_up(library, "ncclAllReduce", calls.all_reduce);
  return found;
}

}  // namespace

const Nccl* nccl(std::string& why_not) {
  static const Found found = find();
  why_not = found.missing;
  return found.missing.empty() ? &found.calls : nullptr;
}

}  // namespace atl::cuda
