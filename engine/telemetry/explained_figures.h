// Which vertices of other ranks and which features matter to each rank, as its last explanation has it: in a run's record.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "comm/communicator.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in the record's explanations on rank 0. Collective over ranks that all explain.
void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record);

/// By rank. A vertex or a column is [its number, its mask].
nlohmann::ordered_json to_json(const std::vector<ExplainedFigures>& ranks);
void from_json(const nlohmann::ordered_json& json, std::vector<ExplainedFigures>& ranks);

}  // namespace atl
