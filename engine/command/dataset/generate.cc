// atoll dataset generate: a community graph, by preset or by numbers.
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/option_fields.h"
#include "dataset/generate/generate.h"

namespace atl {
namespace {

/// The options as fields of dataset.synthetic, checked by the manifest's parser.
SyntheticSpec spec_of(const Arguments& a) {
  std::vector<OptionField> options;
  for (const char* name : {"preset", "scale", "vertices", "averageDegree", "features", "classes", "homophily",
                           "trainShare", "seed"}) {
    options.push_back({std::string("--") + name, std::string("dataset.synthetic.") + name});
  }
  const char* manifest =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: generate}\nspec:\n"
      "  dataset: {synthetic: {kind: community}}\n  model: {kind: gcn}\n";
  return job_of_options(a, options, manifest).dataset.synthetic;
}

int run_dataset_generate(const Arguments& a) {
  GenerateOptions options;
  options.replace = a.has("--replace");
  options.float16 = a.has("--float16");
  options.threads = int(a.integer("--threads", 0, 1, 4096));
  options.progress = [&](const std::string& line) {
    if (!a.has("--quiet")) std::fprintf(stderr, "%s\n", line.c_str());
  };
  const DatasetMeta meta = generate_dataset(community_spec(spec_of(a)), a.get("DST"), options);
  std::printf("%s: %s vertices, %s arcs\n", a.get("DST").c_str(), count_text(meta.vertices).c_str(),
              count_text(meta.arcs).c_str());
  return 0;
}

}  // namespace

Command dataset_generate_command() {
  return {"dataset generate",
          "generate a data set that looks like a real one",
          {{"DST", "", "folder to create", true},
           {"--preset", "NAME", "reddit, products, yelp or flickr"},
           {"--scale", "X", "number of vertices relative to the preset (1)"},
           {"--vertices", "N", "number of vertices, also as 200k or 1M"},
           {"--averageDegree", "X", "arcs per vertex"},
           {"--features", "N", "features per vertex"},
           {"--classes", "N", "number of classes"},
           {"--homophily", "X", "share of arcs between vertices of the same class"},
           {"--trainShare", "X", "share of the vertices that train"},
           {"--seed", "N", "seed of the generator; the same seed gives the same bytes (1)"},
           {"--float16", "", "store features in half precision"},
           {"--replace", "", "overwrite DST if it is a data set"},
           {"--threads", "N", "number of threads (all cores)"},
           {"--quiet", "", "no progress"}},
          run_dataset_generate};
}

}  // namespace atl
