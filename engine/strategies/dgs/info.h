// What other folders ask of a manifest's strategy `dgs`.
#pragma once

#include "job/strategies.h"

namespace atl {

/// Whether masks are trained that decide which vertices are drawn, or which features are fetched.
bool explains_vertices(const Job& job);
bool explains_features(const Job& job, std::int64_t columns);
/// How many steps lie between two changes of masks; 0: there are none. The job may have any strategy.
std::int64_t steps_between_masks(const Job& job, std::int64_t columns);
/// For how many epochs masks are trained at most.
std::int64_t epochs_of_masks(const Job& job);

/// A warning, with its remedy, where a run of `steps` steps ends before masks apply; "" where they apply or
/// there are none.
std::string masks_too_late(const Job& job, std::int64_t columns, std::int64_t steps);

}  // namespace atl
