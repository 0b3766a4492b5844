// The samplers that draw sets of vertices, by name: one row in the table below and one file each.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
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

inline constexpr std::pair<const char*, MakeSets> kSamplers[] = {
    {"neighbour", nullptr},         {"historical", nullptr},
    {"fastgcn", fastgcn_sets},      {"ladies", ladies_sets},
    {"cluster", cluster_sets},      {"saintVertex", saint_vertex_sets},
    {"saintEdge", saint_edge_sets}, {"saintWalk", saint_walk_sets},
    {"uniform", uniform_sets},      {"none", nullptr},
};

inline MakeSets find_sets(const std::string& sampler) {
  for (const auto& [name, make] : kSamplers)
    if (sampler == name) return make;
  ATOLL_CHECK(false, "no sampler {}", sampler);
}

}  // namespace atl
