// What the pods of a gang ask for as they are made: beside their ranks the memory of /dev/shm, and what the template puts
// into them.
#pragma once

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

/// Of a gang_of() the same job. What a LimitRange adds is seen when the pods are there.
void count_pods(const GnnJob& job, const Settings& settings, Gang& gang);

}  // namespace atl::ctl
