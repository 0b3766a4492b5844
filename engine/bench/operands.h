// Operands of what is timed: random numbers, since some hardware is faster on zeros.
#pragma once

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "base/threads.h"
#include "tensor/context.h"

namespace atl {

/// In the host's memory; uniform in [−1, 1), the same on any number of threads.
inline Matrix random_matrix(Context& ctx, Index rows, Index cols, std::uint64_t seed) {
  Matrix m(rows, cols);
  const Draws draws(seed, Purpose::kGenerator);
  constexpr Index kRows = 1024;
  auto body = [&](Index chunk, int) {
    for (Index r = chunk * kRows; r < std::min(rows, (chunk + 1) * kRows); ++r) {
      for (Index c = 0; c < cols; ++c)
        m.at(r, c) = Real(2 * draws.uniform_at(std::uint64_t(r), std::uint64_t(c)) - 1);
    }
  };
  ctx.pool->run((rows + kRows - 1) / kRows, std::ref(body));
  return m;
}

}  // namespace atl
