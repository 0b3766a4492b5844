// The samplers by name, as a manifest knows them: what each draws, and which options it reads. sampler/kinds/
// implements them.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/rule.h"

namespace atl {

struct SamplerInfo {
  std::string name;
  std::string description;
  std::string source;                // the paper
  std::vector<std::string> options;  // options that the sampler reads beside the common ones
  /// Checks a job with this sampler; null: the checks of its options suffice.
  void (*check)(const Check&, const std::string& path) = nullptr;
  /// The most draws per step that make sense on a graph of this size; null: no limit is needed, because the
  /// sampler never draws more than there is.
  std::int64_t (*most_draws)(std::int64_t vertices, std::int64_t arcs) = nullptr;
  std::vector<OwnDefault> defaults{};  // its own defaults of common fields
  /// Number of parts of the graph where the job gives none; 0: one per rank.
  int parts = 0;
};

/// All samplers. The first is the default.
const std::vector<SamplerInfo>& sampler_infos();
/// Null where no sampler has this name.
const SamplerInfo* find_sampler(const std::string& name);
/// The sampler of the job's strategy.
const SamplerInfo& sampler_of(const Job& job);
/// Whether the job's sampler draws each vertex's neighbours, by `fanout`.
bool draws_by_vertex(const Job& job);

/// Whether batches read neighbours. Otherwise the model's sums over them are computed once, for all vertices.
bool reads_neighbours(const Job& job);

/// The folder in which each rank keeps these sums in a file; empty: they are in memory, as always on GPUs.
std::string sums_folder(const Job& job);
/// Changes the folder of these files, if ranks keep any.
void move_sums(Job& job, const std::string& folder);

/// The parts of the graph by the sampler's own default, where the job gives none; 0: one per rank.
int default_parts(const Job& job);

/// Whether the job's layers read historical embeddings. This takes several ranks, and several layers that
/// gather.
bool reads_history(const Job& job);

/// strategy.<kind>.sampler, and the options that samplers read beside `fanout`, `replace` and `batchSize`.
std::vector<Field> sampler_options(const std::string& kind);
/// Vertices drawn for each gathering layer, the one nearest to the input first.
std::vector<std::int64_t> layer_sizes(const Job& job);

/// How many vertices, arcs or walks a step draws from a graph of this many vertices.
std::int64_t set_draws(const Job& job, std::int64_t vertices);

/// Refuses options that the sampler doesn't read, and values that it can't work with. `options` are the
/// strategy's.
Rule sampler_rule(const std::string& kind, const std::vector<Field>& options);

}  // namespace atl
