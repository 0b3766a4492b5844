// A gang whose pods mpi-operator makes (launcher: mpijob). One MPIJob an attempt: mpi-operator neither replaces a worker that
// has failed nor tries a launcher again, so with the attempt all of its pods go.
#pragma once

#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// Sees to it that there is the present attempt's MPIJob, and says so where nobody makes pods of it.
void have_pods_made(Reconcile& reconcile);

/// Takes the job's MPIJobs away, but for one of the name `kept`. False where there is none. It goes before its pods, or they
/// would be made anew.
bool dismiss_mpi_jobs(Reconcile& reconcile, const std::string& kept = "");

}  // namespace atl::ctl
