// `atoll plan --nodes`: where the operator would put a job's pods on a cluster that kubectl described.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "job/job.h"
#include "job/layout.h"

namespace atl {

/// Prints the placement; returns the exit status, 1 where the job doesn't fit. `flows`: bytes an epoch between
/// ranks, where the parts of the data set are known.
int plan_on_nodes(const Job& job, const std::filesystem::path& nodes,
                  const std::optional<std::vector<PairBytes>>& flows, bool json);

}  // namespace atl
