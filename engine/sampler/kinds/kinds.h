// The samplers that draw sets of vertices, by name: one row in kinds.cc and one file each.
#pragma once

#include <string>

#include "sampler/step_sets.h"

namespace atl {

std::unique_ptr<StepSets> fastgcn_sets(const SetInput& in);
std::unique_ptr<StepSets> ladies_sets(const SetInput& in);
std::unique_ptr<StepSets> cluster_sets(const SetInput& in);
std::unique_ptr<StepSets> saint_vertex_sets(const SetInput& in);
std::unique_ptr<StepSets> saint_edge_sets(const SetInput& in);
std::unique_ptr<StepSets> saint_walk_sets(const SetInput& in);
std::unique_ptr<StepSets> uniform_sets(const SetInput& in);

/// The function for a manifest's sampler of this name; null: that sampler draws each vertex's neighbours.
MakeSets find_sets(const std::string& sampler);

}  // namespace atl
