// What a manifest says of a pipeline of layers (strategy `gnnpipe`), as numbers.
#pragma once

#include "base/types.h"
#include "job/strategies.h"

namespace atl {

/// Ranks 0 … G − 1 are stage 0, the next G stage 1, and so on: rank = stage · G + part. The ranks of a stage
/// all have its layers, and one part of the graph each; parts are the same for all stages.
struct PipelineGrid {
  int stages = 1, parts = 1;
  int stage_of(Rank rank) const { return rank / parts; }
  int part_of(Rank rank) const { return rank % parts; }
  Rank rank_of(int stage, int part) const { return stage * parts + part; }
};

PipelineGrid pipeline_grid(const Job& job);
/// Whether each of `stages` stages, which divide placement.ranks, has all its ranks on one server, where the
/// manifest says how ranks share servers.
bool stages_share_servers(const PlacementSpec& placement, int stages);
/// Number of convolutions of each stage, as the job gives them; empty: it doesn't.
std::vector<int> pipeline_layers(const Job& job);
/// The most stages that a job's model can have: one for each layer that is computed in every epoch.
int most_stages(const Job& job);
/// Number of chunks, which are slices of each part.
int pipeline_chunks(const Job& job);
/// info_rules.cc: the rules between the options.
std::vector<Rule> pipeline_rules();
/// The strategy's memoryBudget, and the ways to keep within it: training.recompute and more chunks, unless
/// the manifest gives them.
MemoryBudget pipeline_budget(const Job& job, const Given& given);

}  // namespace atl
