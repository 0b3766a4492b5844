// What to do about a job: a pure function. It is called whenever something of the job changed, or at the time for which it
// asked, and may be called at any other time: deciding twice does nothing twice.
//
// Every step is safe against the operator's death before, within and after it, because the status is written before
// anything is done that can't be read from the pods:
//   attempt      moves on before what belonged to the last one is deleted; older launchers, and MPIJobs, are leftovers then
//   failures, restarts   together with the attempt: what ended it is counted once
//   Placed, with its nodes   before the first pod is released: a release that was broken off is gone on with
//   Placed false, Withdrawn, withdrawals   before pods are withdrawn: what is left of them is a leftover then
//   Suspended    after the last pod is gone, and before the quota of an evicted one is given back
//   Succeeded, Failed   before anything is cleaned up; nothing but cleaning up happens afterwards
#pragma once

#include "operator/controller/decision.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

Decision decide(const Observed& seen, const Settings& settings);

}  // namespace atl::ctl
