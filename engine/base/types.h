// The number types of the whole engine, so that a tensor's or an id's width is decided in one place.
#pragma once

#include <cstdint>

namespace atl {

/// The one scalar type of training: float in the product, double in the test build (ATOLL_REAL_DOUBLE), where
/// one rank and many are shown to agree to 1e-9.
#ifdef ATOLL_REAL_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// The upper half of a float32, as values may be stored (training.precision) or sent (strategy.wire). See
/// tensor/bfloat16.h.
struct Bfloat16 {
  std::uint16_t bits;
};

/// A vertex, global or local: kernels index with 32 bits, half the memory traffic of 64.
using VertexId = std::int32_t;
/// A count or position of arcs, rows or bytes: always 64 bits.
using Index = std::int64_t;
/// A process of the job, 0 … ranks − 1.
using Rank = int;

}  // namespace atl
