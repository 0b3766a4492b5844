// `atoll explain`: the field table for a reader.
#pragma once

#include <string>

namespace atl {

/// What `path` ("training.optimizer", "model.options.alpha"; "" = the whole manifest) means: type, unit,
/// default and its source, allowed values; for an object the fields in it. Throws Error naming the nearest
/// path.
std::string explain(const std::string& path);

/// The same of `path` and of every field below it, one after the other.
std::string explain_all(const std::string& path);

/// The JSON schema (2020-12) of a GNNJob, from the same table.
std::string json_schema();

}  // namespace atl
