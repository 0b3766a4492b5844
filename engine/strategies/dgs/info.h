// What a manifest says of strategy `dgs` of which other folders ask.
#pragma once

#include "job/strategies.h"

namespace atl {

/// Whether masks are trained: they say which vertices are drawn, or which features are fetched.
bool explains_vertices(const Job& job);
bool explains_features(const Job& job, std::int64_t columns);
/// Of a job of any strategy, of so many feature columns: after how many steps masks change; 0: it has none.
std::int64_t steps_between_masks(const Job& job, std::int64_t columns);
/// How long they are trained at most.
std::int64_t epochs_of_masks(const Job& job);

/// Of a run of so many steps: that it ends before masks apply, and what to do; "": they do, or there are
/// none.
std::string masks_too_late(const Job& job, std::int64_t columns, std::int64_t steps);

}  // namespace atl
