// atoll dataset import: a data set of the world's formats → ours.
#include <cstdio>

#include "base/error.h"
#include "base/readable.h"
#include "command/commands.h"
#include "dataset/importers.h"
#include "dataset/published.h"
#include "job/nearest.h"

namespace atl {
namespace {

ImportOptions::Choice symmetrise_of(const Arguments& a) {
  if (a.has("--symmetrise") && a.has("--no-symmetrise"))
    fail("--symmetrise and --no-symmetrise exclude each other");
  if (a.has("--symmetrise")) return ImportOptions::Choice::kYes;
  return a.has("--no-symmetrise") ? ImportOptions::Choice::kNo : ImportOptions::Choice::kAuto;
}

FeatureScaling scaling_of(const Arguments& a) {
  const std::string given = a.get("--scale-features", "none");
  if (given == "none") return FeatureScaling::kNone;
  if (given == "row") return FeatureScaling::kRow;
  if (given == "training") return FeatureScaling::kTraining;
  fail("--scale-features: '{}' is unknown{}", given, suggestion(given, {"none", "row", "training"}));
}

/// What a user should know even if progress is not wanted.
void warn_of_other_counts(const DatasetMeta& meta) {
  const auto comparison = compare_with_published(meta);
  if (!comparison || comparison->differences.empty()) return;
  std::fprintf(stderr, "warning: %s has other counts than published under its name: %s\n", meta.name.c_str(),
               to_text(*comparison).c_str());
}

int run(const Arguments& a) {
  ImportOptions options;
  options.name = a.get("--name");
  options.symmetrise = symmetrise_of(a);
  options.weights = a.has("--weights");
  options.remove_self_loops = a.has("--remove-self-loops");
  options.scaling = scaling_of(a);
  options.float16 = a.has("--float16");
  options.replace = a.has("--replace");
  options.threads = int(a.integer("--threads", 0, 1, 4096));
  const ProgressLine progress = [&](const std::string& line) {
    if (!a.has("--quiet")) std::fprintf(stderr, "%s\n", line.c_str());
  };
  const DatasetMeta meta = import_dataset(a.get("--format"), a.get("SRC"), a.get("DST"), options, progress);
  std::printf("%s: %s vertices, %s arcs, %s features, %d classes\n", a.get("DST").c_str(),
              count_text(meta.vertices).c_str(), count_text(meta.arcs).c_str(),
              count_text(meta.features).c_str(), meta.classes);
  warn_of_other_counts(meta);
  return 0;
}

std::string formats() {
  std::string text;
  for (const auto& entry : importers()) {
    text += (text.empty() ? "" : "; ") + std::string(entry.format) + ": " + std::string(entry.help);
  }
  return text;
}

}  // namespace

Command dataset_import_command() {
  return {
      "dataset import",
      "read a data set of another format",
      {{"SRC", "", "file or folder to read", true},
       {"DST", "", "folder to write", true},
       {"--format", "NAME", formats(), true},
       {"--name", "NAME", "of the data set; by default the destination folder's"},
       {"--symmetrise", "", "add the reverse of every arc; by default as the format's standard use has it"},
       {"--no-symmetrise", "", "keep arcs as they are"},
       {"--weights", "", "take the arcs' weights"},
       {"--remove-self-loops", "", "drop arcs from a vertex to itself"},
       {"--scale-features", "HOW",
        "row: each row divided by its sum; training: each column to mean 0 and deviation 1 on the training rows; none "
        "(default)"},
       {"--float16", "", "store dense features in half precision"},
       {"--replace", "", "replace a data set that is there already"},
       {"--threads", "N", "threads to use (all cores)"},
       {"--quiet", "", "no progress"}},
      run};
}

}  // namespace atl
