// Counts that checkpoints keep among their scalars, as doubles.
#pragma once

#include <cstdint>

namespace atl {

/// 0 where no count can have been that.
inline std::int64_t saved_count(double scalar) {
  return scalar >= 0 && scalar < 0x1p63 ? std::int64_t(scalar) : 0;
}

}  // namespace atl
