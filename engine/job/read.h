// Turns a manifest's tree into a Job by walking the field table. It finds unknown fields and wrong values;
// rule.h checks how fields depend on each other.
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

/// Stores the value, or adds an error with location, field, value and what is allowed. A null keeps the
/// default, as on a cluster.
void assign(const Field& field, const Node& value, Job& job, Problems& problems);

/// What assign() accepts, for messages and `atoll explain`: "1 … 4096", "> 0", "a, b or c".
std::string allowed_text(const Field& field);

}  // namespace atl
