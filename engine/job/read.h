// The tree of a manifest → a Job, by walking the field table. Finds unknown fields and wrong values; how
// fields depend on each other is in rules.h.
#pragma once

#include "job/job.h"
#include "job/problems.h"
#include "job/yaml.h"

namespace atl {

struct ReadResult {
  Job job;
  Given given;
  Problems problems;
};

/// `manifest` is the whole document: apiVersion, kind, metadata, spec (status is ignored).
ReadResult read_job(const Node& manifest);

}  // namespace atl
