// launcher: mpijob. Instead of pods of our own there is a Kubeflow MPIJob (kubeflow.org/v2beta1), of which mpi-operator
// makes them. Its templates carry our gate and the launcher's is ours whole, so that its pods are placed, released, watched
// and told their ranks like our own; mpi-operator's host file and keys are there and not used.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/pod.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// Of one attempt: a launcher that ends, however it does, ends it. `servers`: the ranks of each.
std::string mpi_job(const GnnJob& job, const Settings& settings, int attempt,
                    const std::vector<std::vector<Rank>>& servers, Moment now);

/// A pod made of such a template as if we had made it: the job's own, with its server and its ranks. Any other as it is.
PodView adopted(PodView pod);

/// Why it has failed, in mpi-operator's words; "" where it hasn't. `object`: the API's.
std::string mpi_job_failure(const nlohmann::json& object);

/// Why there can't be one, one line for each reason.
std::vector<std::string> mpi_job_faults(const Job& job, const Settings& settings);

}  // namespace atl::ctl
