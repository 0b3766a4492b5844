// The samplers by name, as a manifest knows them: what each draws, and which options of a step it reads. What
// they do is in sampler/kinds/.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/option_field.h"
#include "job/rule.h"

namespace atl {

struct SamplerInfo {
  std::string name;
  std::string description;
  std::string source;                // the paper
  std::vector<std::string> options;  // names of those that it reads beside what all do
  /// What is wrong with a job that has it; null: the options say all.
  void (*check)(const Check&, const std::string& path) = nullptr;
  /// The most draws of a step that a graph of so many vertices and arcs is worth; null: it never draws more
  /// than there is.
  std::int64_t (*most_draws)(std::int64_t vertices, std::int64_t arcs) = nullptr;
  std::vector<OwnDefault> defaults{};  // of fields that every job has
  /// How many parts the graph has where the job doesn't say; 0: one a rank.
  int parts = 0;
};

/// The first one is the default.
const std::vector<SamplerInfo>& sampler_infos();
/// Null where none is named so.
const SamplerInfo* find_sampler(const std::string& name);
/// The job's strategy's.
const SamplerInfo& sampler_of(const Job& job);
/// Whether it draws each vertex's neighbours, by `fanout`.
bool draws_by_vertex(const Job& job);

/// Whether its batches read neighbours; else the model's sums over them are computed once, for all vertices.
bool reads_neighbours(const Job& job);

/// The parts of the graph where the job's sampler has its own and the job doesn't give them; 0: one a rank.
int default_parts(const Job& job);

/// Whether its layers read historical embeddings: where several ranks and several layers gather.
bool reads_history(const Job& job);

/// strategy.<kind>.sampler, and what the samplers read beside `fanout`, `replace` and `batchSize`.
std::vector<Field> sampler_options(const std::string& kind);
/// Vertices drawn for each gathering layer, the one nearest to the input first.
std::vector<std::int64_t> layer_sizes(const Job& job);

/// Vertices, arcs or walks that a step draws, of a graph of so many vertices.
std::int64_t set_draws(const Job& job, std::int64_t vertices);

/// Options that the sampler doesn't read are refused, and what it can't do with those that it does. options:
/// the strategy's.
Rule sampler_rule(void (*check)(const Check&), const std::string& kind, const std::vector<Field>& options);
/// To be called where the job's strategy is `kind`.
void check_sampler(const Check& check, const std::string& kind);

}  // namespace atl
