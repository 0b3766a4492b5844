// atoll dataset import: converts a data set of a common format to ours.
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "dataset/catalogue/describe.h"
#include "dataset/export.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

ImportOptions::Choice symmetrise_of(const Arguments& a) {
  if (a.has("--symmetrise") && a.has("--no-symmetrise"))
    fail("--symmetrise and --no-symmetrise exclude each other (use one)");
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

/// Options of random draws, all from one seed.
void set_draws(const Arguments& a, ImportOptions& options) {
  options.seed = std::uint64_t(a.integer("--seed", 1, 0, 1L << 53));
  if (a.has("--split")) options.split = parse_drawn_split(a.get("--split"), options.seed);
  options.given_edges = a.get("--edge-split") == "given";
  if (a.has("--edge-split") && !options.given_edges)
    options.edge_split = parse_edge_split(a.get("--edge-split"), options.seed);
  if (a.has("--features")) options.made_features = parse_made_features(a.get("--features"), options.seed);
  if (a.has("--disjoint")) options.disjoint = double(a.integer("--disjoint", 0, 1, 99)) / 100;
  const bool draws = options.split || options.edge_split || options.made_features || options.disjoint;
  if (a.has("--seed") && !draws)
    fail("--seed: nothing is drawn: there is no --split, --edge-split, --disjoint or --features");
}

/// A warning that is shown even where progress isn't wanted.
void warn(const std::string& line) {
  std::fprintf(stderr, "atoll: warning: %s\n", line.c_str());
}

void warn_of_other_counts(const DatasetMeta& meta) {
  const auto comparison = compare_with_published(meta);
  if (!comparison || comparison->differences.empty()) return;
  warn(fmt::format("{}: counts differ from the published data set of this name: {}", meta.name,
                   to_text(*comparison)));
}

/// Warns of options that changed nothing in the files that were read.
void warn_of_no_effect(const Arguments& a, const DatasetMeta& meta) {
  for (const char* option : {"--scale-features", "--float16"})
    if (a.has(option) && meta.features == 0)
      warn(std::string(option) + " does nothing: there are no features");
  if (a.has("--relabel") && meta.classes == 0) warn("--relabel does nothing: there are no labels");
}

int run_dataset_import(const Arguments& a) {
  ImportOptions options;
  options.name = a.get("--name");
  options.symmetrise = symmetrise_of(a);
  options.transpose = a.has("--transpose");
  options.weights = a.has("--weights");
  options.one_based = a.has("--one-based");
  options.relabel = a.has("--relabel");
  set_draws(a, options);
  options.remove_self_loops = a.has("--remove-self-loops");
  options.scaling = scaling_of(a);
  options.float16 = a.has("--float16");
  options.replace = a.has("--replace");
  options.threads = int(a.integer("--threads", 0, 1, 4096));
  const ProgressLine progress = [&](const std::string& line) {
    if (!a.has("--quiet")) std::fprintf(stderr, "%s\n", line.c_str());
  };
  const DatasetMeta meta =
      import_dataset(a.get("--format"), a.get("SRC"), a.get("DST"), options, progress, warn);
  std::printf("%s: %s vertices, %s arcs, %s features, %d classes\n", a.get("DST").c_str(),
              count_text(meta.vertices).c_str(), count_text(meta.arcs).c_str(),
              count_text(meta.features).c_str(), meta.classes);
  warn_of_other_counts(meta);
  warn_of_no_effect(a, meta);
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
      "convert a data set from another format",
      {{"SRC", "", "file or folder to read", true},
       {"DST", "", "folder to create", true},
       {"--format", "NAME", formats(), true},
       {"--name", "NAME", "name of the data set (DST's last part)"},
       {"--symmetrise", "", "add the reverse of every arc (by default as is usual for the format)"},
       {"--no-symmetrise", "", "keep arcs as they are"},
       {"--transpose", "",
        "reverse every arc (by default u → v, or row u and column v of a matrix, means that v reads u)"},
       {"--weights", "", "keep the arcs' weights"},
       {"--one-based", "", "ids in SRC count from 1 (npy and ogb)"},
       {"--relabel", "", "number the labels in SRC from 0, and keep the originals for predictions"},
       {"--split", "random:TRAIN/VALIDATION/TEST",
        "draw a split in percent of the labelled vertices, each by its id and not per class: random:60/20/20"},
       {"--edge-split", "HOW",
        "an edge split for link prediction: given, in edge_split.npz (npy), or drawn, in percent of the edges: "
        "random:85/5/10; the graph keeps the training edges alone"},
       {"--disjoint", "PERCENT",
        "share of the training edges that are trained on and carry no messages (without it all do both)"},
       {"--features", "HOW",
        "features for vertices that have none: one-hot, a column for each vertex; random:COLUMNS, normal numbers"},
       {"--seed", "N", "seed of what is drawn (1)"},
       {"--remove-self-loops", "", "drop arcs from a vertex to itself"},
       {"--scale-features", "HOW",
        "row: divide each row by its sum; training: scale each column to mean 0 and deviation 1 over the training "
        "rows; none (default)"},
       {"--float16", "", "store dense features in half precision"},
       {"--replace", "", "overwrite DST if it is a data set"},
       {"--threads", "N", "number of threads (all cores)"},
       {"--quiet", "", "no progress"}},
      run_dataset_import};
}

// atoll dataset export: a stored data set in files that NumPy and SciPy read.

namespace {

int run_export(const Arguments& arguments) {
  const std::filesystem::path source = stored_dataset(arguments.get("DATASET"));
  export_dataset(Dataset::open(source), arguments.get("DST"), arguments.has("--replace"));
  std::printf("%s\n", arguments.get("DST").c_str());
  return 0;
}

}  // namespace

Command dataset_export_command() {
  return {"dataset export",
          "write a data set as .npy and .npz files for NumPy and SciPy",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true},
           {"DST", "", "folder to create", true},
           {"--replace", "", "overwrite DST if it is an export"}},
          run_export};
}

}  // namespace atl
