// The tree of a manifest → a Job, by walking the field table. Finds unknown fields and wrong values; how
// fields depend on each other is in rule.h.
#pragma once

#include <string>

#include "job/field.h"
#include "job/job.h"
#include "job/rule.h"
#include "job/yaml.h"

namespace atl {

struct ReadResult {
  Job job;
  Given given;
  Problems problems;
};

/// `manifest` is the whole document: apiVersion, kind, metadata, spec (status is ignored).
ReadResult read_job(const Node& manifest);

/// Stores the value, or adds an error that names location, field, value and what is allowed. A null leaves
/// the default, as on a cluster.
void assign(const Field& field, const Node& value, Job& job, Problems& problems);

/// "1 … 4096", "> 0", "a, b or c": what assign() accepts, for messages and `atoll explain`.
std::string allowed_text(const Field& field);

}  // namespace atl
