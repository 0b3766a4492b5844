// How benchmarks time a piece of work.
#pragma once

#include <algorithm>
#include <chrono>

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

}  // namespace atl
