// What a manifest says of a pipeline of layers (strategy `gnnpipe`), as numbers.
#pragma once

#include "base/types.h"
#include "job/strategies.h"

namespace atl {

/// Ranks 0 … G − 1 are stage 0, the next G stage 1, and so on: rank = stage · G + part. The ranks of a stage
/// have its layers and a part of the graph each; a part is the same for all stages.
struct PipelineGrid {
  int stages = 1, parts = 1;
  int stage_of(Rank rank) const { return rank / parts; }
  int part_of(Rank rank) const { return rank % parts; }
  Rank rank_of(int stage, int part) const { return stage * parts + part; }
};

PipelineGrid pipeline_grid(const Job& job);
/// Whether each of so many stages, which divide placement.ranks, has all its ranks on one server, where the
/// manifest says which share one.
bool stages_share_servers(const PlacementSpec& placement, int stages);
/// Convolutions of each stage, as the job gives them; empty: it doesn't.
std::vector<int> pipeline_layers(const Job& job);
/// The most stages that a job's model can have: one a layer, of those that are computed in each epoch.
int most_stages(const Job& job);
/// Chunks that the graph is cut into: slices of each part.
int pipeline_chunks(const Job& job);
/// info_rules.cc: what the options must have in common.
std::vector<Rule> pipeline_rules();
/// What its memoryBudget leaves open, training.recompute and the chunks, where the manifest doesn't give
/// them.
MemoryBudget pipeline_budget(const Job& job, const Given& given);

}  // namespace atl
