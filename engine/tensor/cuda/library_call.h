// Calls of CUDA's libraries in the order of a stream, recorded as launches are.
#pragma once

#include "tensor/cuda/stream.h"

namespace atl::cuda {

/// Whatever a library is asked for that launches no kernel of ours, recorded.
template <class Arguments>
void run_recorded(const Call& call, void* const* arguments, const Target& on) {
  using Function = void (*)(const Target&, const Arguments&);
  reinterpret_cast<Function>(const_cast<void*>(call.function))(on,
                                                               *static_cast<const Arguments*>(arguments[0]));
}

/// ask(where, arguments), in the order of ctx's stream. Arguments are compared byte by byte: better without
/// padding.
template <class Arguments>
void call_library(const Context& ctx, void (*ask)(const Target&, const Arguments&),
                  const Arguments& arguments) {
  const Stream& stream = stream_of(ctx);
  if (Rounds* const rounds = stream.rounds(); rounds != nullptr && rounds->records())
    return rounds->give({&run_recorded<Arguments>, reinterpret_cast<const void*>(ask), false, {}}, arguments);
  ask({stream.stream(), stream.cublas()}, arguments);
}

}  // namespace atl::cuda
