// Objects that the API server doesn't take, for quota, LimitRange or admission: who has to give way where that leaves
// gangs with half of their pods, which count in the quota too.
#pragma once

#include "operator/controller/observed.h"

namespace atl::ctl {

/// Whether `other` is refused objects in the same namespace and comes before `job`: it is older, or as old and first by
/// name. As long as it holds gated pods, `job` gives way to it.
bool is_refused_before(const GnnJob& other, const GnnJob& job);

}  // namespace atl::ctl
