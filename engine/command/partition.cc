// atoll partition: prepares a data set's graph for a number of ranks ahead of a run, and prints how good the
// parts are.
#include <cstdio>

#include "command/commands.h"
#include "dataset/dataset.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// A job that says nothing but how to partition: the manifest's parser checks the values.
Job job_of(const Arguments& a) {
  std::string text =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: partition}\nspec:\n"
      "  dataset: {name: d}\n  model: {kind: gcn}\n";
  std::vector<Override> overrides{"placement.ranks=" + a.get("--parts"),
                                  "dataset.selfLoops=" + a.get("--self-loops", "model"),
                                  "placement.partitioner.kind=" + a.get("--method", "metis"),
                                  "dataset.split=" + a.get("--split", "default")};
  if (a.has("--model")) overrides.push_back("model.kind=" + a.get("--model"));
  if (a.has("--objective")) overrides.push_back("placement.partitioner.objective=" + a.get("--objective"));
  if (a.has("--seed")) overrides.push_back("placement.partitioner.seed=" + a.get("--seed"));
  if (a.has("--symmetrise")) overrides.push_back("dataset.symmetrise=true");
  return parse_job(text, "atoll partition", overrides).job;
}

int run(const Arguments& arguments) {
  const Job job = job_of(arguments);
  const Dataset dataset = Dataset::open(arguments.get("DATASET"));
  const auto graph = PreparedGraph::make(dataset, partition_options(job, job.placement.ranks),
                                         graph_transforms(job), training_marks(dataset, job));
  std::fputs(to_text(graph.quality()).c_str(), stdout);
  std::printf("stored in %s\n", graph.folder().c_str());
  return 0;
}

}  // namespace

Command partition_command() {
  return {"partition",
          "divide a data set's graph among ranks and print how good the parts are",
          {{"DATASET", "", "folder of the data set", true},
           {"--parts", "N", "number of ranks", true},
           {"--method", "NAME", "metis (default), hash or range"},
           {"--objective", "NAME", "of metis: volume (default) or cut"},
           {"--seed", "N", "of the method's random choices (1)"},
           {"--split", "NAME", "the split whose training vertices are balanced (default)"},
           {"--model", "KIND", "whose self loops to add: gcn (default), sage, …"},
           {"--self-loops", "WHAT", "model (default), keep, add or remove"},
           {"--symmetrise", "", "add the reverse of every arc first"}},
          run};
}

}  // namespace atl
