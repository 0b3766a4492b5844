// When the stages of a pipeline worked in a run's last epoch, and for how much of it they stood still.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "comm/communicator.h"
#include "strategies/gnnpipe/figures.h"
#include "telemetry/record.h"

namespace atl {

/// Fills in the record's pipeline on rank 0, on whose clock it is. Collective over ranks that all have
/// stages.
void gather_pipeline(Communicator& comm, const StageTimes& times, RunRecord& record);

/// From every rank's times of the same epoch, on one clock. Many chunks are told in groups of neighbours.
PipelineEpoch pipeline_epoch(std::span<const StageTimes> ranks);

// One epoch of a pipeline in run.json.

/// null: there is none. A chunk is [its number, begin and end of forward, begin and end of backward].
nlohmann::ordered_json to_json(const std::optional<PipelineEpoch>& pipeline);
void from_json(const nlohmann::ordered_json& json, std::optional<PipelineEpoch>& pipeline);

}  // namespace atl
