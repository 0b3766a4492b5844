// The samplers by name, as a manifest knows them: what each draws, and which options of a step it reads. What they do is in
// sampler/kinds/.
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
  std::vector<std::string> options;  // names of those that it reads beside what all do
  /// What is wrong with a job that has it; null: the options say all.
  void (*check)(const Check&, const std::string& path) = nullptr;
  /// The most draws of a step that a graph of so many vertices and arcs is worth; null: it never draws more than there is.
  std::int64_t (*most_draws)(std::int64_t vertices, std::int64_t arcs) = nullptr;
};

/// The first one is the default.
const std::vector<SamplerInfo>& sampler_infos();
/// The job's strategy's.
const SamplerInfo& sampler_of(const Job& job);
/// Whether it draws each vertex's neighbours, by `fanout`.
bool draws_by_vertex(const Job& job);

/// Whether its layers read historical embeddings: where several ranks and several layers gather.
bool reads_history(const Job& job);

/// strategy.<kind>.sampler, and what the samplers read beside `fanout`, `replace` and `batchSize`.
std::vector<Field> sampler_options(const std::string& kind);
/// Vertices drawn for each gathering layer, the one nearest to the input first.
std::vector<std::int64_t> layer_sizes(const Job& job);

/// Options that the sampler doesn't read are refused, and what it can't do with those that it does. options: the strategy's.
Rule sampler_rule(void (*check)(const Check&), const std::string& kind, const std::vector<Field>& options);
/// To be called where the job's strategy is `kind`.
void check_sampler(const Check& check, const std::string& kind);

}  // namespace atl
