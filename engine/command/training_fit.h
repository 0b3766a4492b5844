// What a manifest and its data set must agree on before anything is trained, and what of the data set
// training can't do without.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/meta.h"
#include "job/job.h"
#include "job/load.h"

namespace atl {

/// Reads labels and split. Throws Error that names the manifest's line and what to change there or to add to
/// the data set.
void check_trainable(const LoadedJob& loaded, const Dataset& dataset);

/// A line for each way in which the two can be trained, but shouldn't be expected to learn, or to show, much.
std::vector<std::string> training_doubts(const LoadedJob& loaded, const Dataset& dataset);

/// What to say of a field; "": nothing.
struct FieldRemark {
  std::string path, text{};
};

/// Why the job isn't trained.
FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta);
/// Why it shouldn't be expected to learn much.
FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta);

}  // namespace atl
