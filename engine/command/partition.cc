// atoll partition: prepares a data set's graph for a number of ranks ahead of a run, and prints how good the
// parts are.
#include "command/job_data.h"

#include <fmt/format.h>
#include <cstdio>

#include "command/commands.h"
#include "command/option_fields.h"
#include "job/load.h"
#include "partition/prepared_files.h"
#include "train/rank_data.h"

namespace atl {
namespace {

int run_partition(const Arguments& arguments) {
  const int parts = int(arguments.integer("--parts", 1, 1, 4096));
  const Dataset dataset = Dataset::open(stored_dataset(arguments.get("DATASET")), prepared_place(arguments));
  const auto [options, graph] = partition_graph(dataset, parts, arguments);
  if (arguments.has("--json")) {
    std::printf("%s\n", partition_event(options, graph.quality(), graph.folder()).c_str());
    return 0;
  }
  std::fputs(to_text(graph.quality()).c_str(), stdout);
  std::printf("stored in %s\n", graph.folder().c_str());
  return 0;
}

std::vector<Argument> all_arguments() {
  std::vector<Argument> all{{"DATASET", "", "folder of the data set, or its name under the data root", true},
                            {"--parts", "N", "number of parts", true},
                            prepared_argument(),
                            {"--json", "", "print one JSON object"}};
  for (Argument& argument : partition_arguments()) all.push_back(std::move(argument));
  return all;
}

}  // namespace

Command partition_command() {
  return {"partition", "divide a data set's graph into parts and print their quality", all_arguments(),
          run_partition};
}

namespace {

/// A job whose manifest says only how to partition, so that the manifest's parser checks the values.
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
  const VertexMarks training = balances ? training_marks(dataset, job) : VertexMarks();
  return {options, PreparedGraph::make(dataset, options, graph_transforms(job), training)};
}

}  // namespace atl
