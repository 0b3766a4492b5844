// What a manifest and its data set must agree on before training, and what training needs of the data set.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/meta.h"
#include "job/job.h"
#include "job/load.h"

namespace atl {

/// Reads labels and split. Throws Error, which names the manifest's line and what to change there, or what to
/// add to the data set.
void check_trainable(const LoadedJob& loaded, const Dataset& dataset);

/// Whether the split has a vertex in this part, and with a label: others neither train nor measure.
bool has_labelled(const DatasetSpec& spec, const Dataset& dataset, Split part);

/// A line for each reason why training is possible, but shouldn't be expected to learn, or to show, much.
std::vector<std::string> training_doubts(const LoadedJob& loaded, const Dataset& dataset);

/// A remark on a field; no text: there is none.
struct FieldRemark {
  std::string path, text{};
};

/// Why the job can't be trained.
FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta);
/// Why the job shouldn't be expected to learn much.
FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta);

}  // namespace atl
