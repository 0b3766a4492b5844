// Calls of CUDA's libraries in the order of a stream, recorded like launches.
#pragma once

#include "tensor/cuda/stream.h"

namespace atl::cuda {

/// Runs a recorded call of a library, which launches no kernel of ours.
template <class Arguments>
void run_recorded(const Call& call, void* const* arguments, const Target& on) {
  using Function = void (*)(const Target&, const Arguments&);
  reinterpret_cast<Function>(const_cast<void*>(call.function))(on,
                                                               *static_cast<const Arguments*>(arguments[0]));
}

/// Calls ask(where, arguments) in the order of ctx's stream. Recorded arguments are compared byte by byte, so
/// they should have no padding.
template <class Arguments>
void call_library(const Context& ctx, void (*ask)(const Target&, const Arguments&),
                  const Arguments& arguments) {
  const Stream& stream = stream_of(ctx);
  if (Rounds* const rounds = stream.rounds(); rounds != nullptr && rounds->records())
    return rounds->give({&run_recorded<Arguments>, reinterpret_cast<const void*>(ask), false, {}}, arguments);
  ask({stream.stream(), stream.cublas()}, arguments);
}

}  // namespace atl::cuda
