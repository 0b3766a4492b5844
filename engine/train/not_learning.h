// A run that doesn't learn says so early, while its user still looks at it.
#pragma once

#include <string>
#include <vector>

#include "job/job.h"
#include "train/telemetry/record.h"

namespace atl {

/// By the end of which epoch of a run that has so many its loss must have fallen: a tenth, but at least 5.
Index epochs_to_learn(Index epochs);

/// What to tell, with the two likeliest remedies for the manifest, where no epoch up to epochs_to_learn() had a loss at least 1 %
/// below the first one's; "" otherwise. epochs: from the first one.
std::string not_learning(const Job& job, const std::vector<EpochRecord>& epochs);

}  // namespace atl
