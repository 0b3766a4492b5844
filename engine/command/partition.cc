// atoll partition: prepares a data set's graph for a number of ranks ahead of a run, and prints how good the
// parts are.
#include <cstdio>

#include "command/commands.h"
#include "command/job_data.h"
#include "command/partition_graph.h"
#include "command/prepared_place.h"
#include "partition/prepared_meta.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
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
  return {"partition", "divide a data set's graph into parts and print their quality", all_arguments(), run};
}

}  // namespace atl
