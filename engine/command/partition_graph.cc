#include "command/partition_graph.h"

#include <fmt/format.h>

#include "command/option_fields.h"
#include "job/load.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// A job that says nothing but how to partition: the manifest's parser checks the values.
Job job_of(const Arguments& a, int parts) {
  const OptionField options[] = {{"--method", "placement.partitioner.kind"},
                                 {"--objective", "placement.partitioner.objective"},
                                 {"--seed", "placement.partitioner.seed"},
                                 {"--split", "dataset.split"},
                                 {"--model", "model.kind"},
                                 {"--self-loops", "dataset.selfLoops"}};
  const std::string manifest = fmt::format(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {{name: partition}}\nspec:\n"
      "  dataset: {{name: d, symmetrise: {}}}\n  model: {{kind: gcn}}\n  placement: {{ranks: {}}}\n",
      a.has("--symmetrise"), parts);
  Job job = job_of_options(a, options, manifest);
  settle_self_loops(job);
  return job;
}

}  // namespace

std::vector<Argument> partition_arguments() {
  return {{"--method", "NAME", "metis (default), hash or range"},
          {"--objective", "NAME", "what metis minimises: volume (default) or cut"},
          {"--seed", "N", "seed of the method's random choices (1)"},
          {"--split", "NAME", "split whose training vertices are balanced over the parts (default)"},
          {"--model", "KIND", "model whose self-loops are added: gcn (default), sage, …"},
          {"--self-loops", "WHAT", "self-loops: model (default), keep, add or remove"},
          {"--symmetrise", "", "add the reverse of every arc first"}};
}

PartitionedGraph partition_graph(const Dataset& dataset, int parts, const Arguments& arguments) {
  const Job job = job_of(arguments, parts);
  const PartitionOptions options = partition_options(job, parts);
  const bool balances = arguments.has("--split") || dataset.meta().splits.contains(job.dataset.split);
  const auto training = balances ? training_marks(dataset, job) : std::vector<std::uint8_t>{};
  return {options, PreparedGraph::make(dataset, options, graph_transforms(job), training)};
}

}  // namespace atl
