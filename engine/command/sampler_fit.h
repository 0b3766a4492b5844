// What a job's sampler and its data set must agree on: how many clusters a graph has, and how much of it a step draws.
#pragma once

#include <string>

#include "dataset/meta.h"
#include "job/job.h"

namespace atl {

/// What to say of a field; "": nothing.
struct FieldRemark {
  std::string path, text{};
};

/// Why the job isn't trained.
FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta);
/// Why it shouldn't be expected to learn much.
FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta);

}  // namespace atl
