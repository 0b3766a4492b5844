// How benchmarks time a piece of work.
#pragma once

#include <algorithm>
#include <chrono>

#include "tensor/context.h"

namespace atl {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Shortest of at least five runs, and of as many as half a second holds.
template <class F>
double shortest_seconds(F&& work) {
  double best = 1e30;
  const double begin = seconds_now();
  for (int run = 0; run < 5 || seconds_now() - begin < 0.5; ++run) {
    const double start = seconds_now();
    work();
    best = std::min(best, seconds_now() - start);
  }
  return best;
}

/// Of a call of kernels, until they are done. A device is given some calls before the host waits, so that its work hides what a call
/// costs the host, as it does in an epoch.
template <class F>
double shortest_seconds(Context& ctx, F&& kernels) {
  const int calls = memory_of(ctx.device).is_hosts ? 1 : 10;
  kernels();
  ctx.stream->synchronise();
  return shortest_seconds([&] {
           for (int call = 0; call < calls; ++call) kernels();
           ctx.stream->synchronise();
         }) /
         calls;
}

}  // namespace atl
