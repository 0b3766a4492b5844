// The field table → the structural schema of a GNNJob's spec and metadata.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace atl {

nlohmann::ordered_json spec_schema();
nlohmann::ordered_json metadata_schema();

}  // namespace atl
