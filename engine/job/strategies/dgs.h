// What a manifest says of strategy `dgs` of which other folders ask.
#pragma once

#include "job/strategies.h"

namespace atl {

/// Whether masks are trained: they say which vertices are drawn, or which features are fetched.
bool explains_vertices(const Job& job);
bool explains_features(const Job& job);
/// Of a job of any strategy: after how many steps masks change; 0: it has none.
std::int64_t steps_between_masks(const Job& job);

}  // namespace atl
