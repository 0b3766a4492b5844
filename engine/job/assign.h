// One value of the tree → one field of the Job: type, unit, allowed values and range as the field's row says.
#pragma once

#include <string>

#include "job/field.h"
#include "job/problems.h"
#include "job/yaml.h"

namespace atl {

/// Stores the value, or adds an error that names location, field, value and what is allowed. A null leaves
/// the default, as on a cluster.
void assign(const Field& field, const Node& value, Job& job, Problems& problems);

/// "1 … 4096", "> 0", "a, b or c": what assign() accepts, for messages and `atoll explain`.
std::string allowed_text(const Field& field);

}  // namespace atl
