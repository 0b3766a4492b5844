// atoll dataset info: what a stored data set holds.
#include <cstdio>

#include "base/readable.h"
#include "command/commands.h"
#include "dataset/dataset.h"

namespace atl {
namespace {

void line(const char* label, const std::string& text) {
  if (!text.empty()) std::printf("%-14s%s\n", label, text.c_str());
}

std::string features_text(const DatasetMeta& meta) {
  const std::string columns = count_text(meta.features) + " columns";
  if (meta.feature_nonzeros < 0) return columns + ", dense";
  const double all = double(meta.vertices) * double(meta.features);
  return columns + ", sparse: " + percent_text(all > 0 ? double(meta.feature_nonzeros) / all : 0) +
         " non-zero";
}

int run(const Arguments& arguments) {
  const Dataset dataset = Dataset::open(arguments.get("DATASET"));
  const DatasetMeta& meta = dataset.meta();
  line("name", meta.name);
  line("vertices", count_text(meta.vertices));
  line("arcs",
       count_text(meta.arcs) + (meta.symmetric ? ", symmetric" : "") + (meta.weighted ? ", weighted" : ""));
  line("self loops", count_text(meta.self_loops));
  line("features", features_text(meta));
  line("classes", count_text(meta.classes) + (meta.multi_label ? ", several labels per vertex" : ""));
  for (const auto& [name, columns] : meta.splits)
    line("split", name + (columns > 1 ? ", " + count_text(columns) + " columns" : ""));
  for (const auto& transform : meta.transforms) line("transform", transform);
  line("source", meta.source);
  line("licence", meta.licence);
  line("checksum", meta.checksum);
  return 0;
}

}  // namespace

Command dataset_info_command() {
  return {
      "dataset info", "print what a data set holds", {{"DATASET", "", "folder of the data set", true}}, run};
}

}  // namespace atl
