// One epoch of a pipeline in run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "telemetry/record.h"

namespace atl {

/// null: there is none. A chunk is [its number, begin and end of forward, begin and end of backward].
nlohmann::ordered_json to_json(const std::optional<PipelineEpoch>& pipeline);
void from_json(const nlohmann::ordered_json& json, std::optional<PipelineEpoch>& pipeline);

}  // namespace atl
