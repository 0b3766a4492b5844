// Which layers each stage of a pipeline has: for the plan, and for whoever starts a run.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "plan/job_plan.h"

namespace atl {

/// Of every stage, the first one first; empty: every rank has all layers.
std::vector<StagePlan> stage_plans(const Job& job, const Model& model);

/// A table for a terminal, or "".
std::string to_text(const std::vector<StagePlan>& stages);
/// What to tell where other stages wait for the first stage's first layer; "": none does.
std::string stall_text(const JobPlan& plan);
/// As "4 stages of 3, 3, 3, 2 convolutions, 16 chunks", or "".
std::string line_of(const std::vector<StagePlan>& stages, const Job& job);

}  // namespace atl
