#include "command/job_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/readable.h"
#include "base/threads.h"
#include "command/synthetic.h"
#include "dataset/dataset.h"
#include "dataset/generate_dataset.h"
#include "job/nearest.h"
#include "train/rank_data.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

fs::path usual_root() {
  const char* variable = std::getenv("ATOLL_DATA_ROOT");
  return variable != nullptr && *variable != '\0' ? variable : "datasets";
}

fs::path data_root(const Arguments& a) {
  return a.get("--data-root", usual_root().string());
}

std::vector<std::string> folders_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(root, absent)) {
    if (fs::exists(entry.path() / "meta.json")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path place_in(const fs::path& root, const DatasetSpec& spec) {
  return spec.name.empty() ? synthetic_folder(root, spec.synthetic) : root / spec.name;
}

fs::path find_dataset(const LoadedJob& loaded, const fs::path& root, Say say) {
  const DatasetSpec& spec = loaded.job.dataset;
  const fs::path place = place_in(root, spec);
  if (spec.name.empty()) {
    if (!fs::exists(place)) {
      say("generating " + place.string());
      generate_dataset(community_spec(spec.synthetic), place, {});
    } else {
      Dataset::open(place).verify();
    }
    return place;
  }
  if (!fs::exists(place)) {
    fail(
        "{}: dataset.name: no data set '{}' under {}{}; import one with `atoll dataset import`, or name "
        "another root "
        "with --data-root",
        where_of(loaded.given, "dataset.name"), spec.name, fs::absolute(root).string(),
        suggestion(spec.name, folders_in(root)));
  }
  Dataset::open(place).verify();
  return place;
}

/// What manifest and data set must agree on.
void check_against(const LoadedJob& loaded, const DatasetMeta& meta) {
  const Job& job = loaded.job;
  auto refuse = [&](const char* path, const std::string& text) {
    fail("{}: {}: {}", where_of(loaded.given, path), path, text);
  };
  const auto split = meta.splits.find(job.dataset.split);
  if (split == meta.splits.end()) {
    std::vector<std::string> known;
    for (const auto& [name, columns] : meta.splits) known.push_back(name);
    refuse("dataset.split", fmt::format("{} has no split '{}'{}", meta.name, job.dataset.split,
                                        suggestion(job.dataset.split, known)));
  }
  if (job.dataset.split_column >= split->second) {
    refuse("dataset.splitColumn", fmt::format("{} is not allowed: split {} of {} has {} columns (use 0 … {})",
                                              job.dataset.split_column, job.dataset.split, meta.name,
                                              split->second, split->second - 1));
  }
  if (job.placement.ranks > meta.vertices) {
    refuse("placement.ranks", fmt::format("{} ranks for {} vertices (use at most one rank a vertex)",
                                          job.placement.ranks, meta.vertices));
  }
  if (meta.multi_label && job.training.loss == Loss::kCrossEntropy) {
    refuse("training.loss", fmt::format("crossEntropy needs one class per vertex, {} has several labels (use "
                                        "binaryCrossEntropy, and metric f1Micro or rocAuc)",
                                        meta.name));
  }
  if (job.training.metric == Metric::kRocAuc && !meta.multi_label && meta.classes != 2) {
    refuse("training.metric", fmt::format("rocAuc needs two classes or several labels per vertex, {} has {} "
                                          "classes (use accuracy or f1Micro)",
                                          meta.name, meta.classes));
  }
  if (meta.feature_form == FeatureForm::kSparse && job.training.input_dropout.rate > 0 &&
      job.training.input_dropout.position == DropoutPosition::kAfterAggregation) {
    refuse("training.inputDropout.position",
           fmt::format("afterAggregation needs dense features, {} stores them sparse (use beforeAggregation)",
                       meta.name));
  }
  if (!meta.multi_label && job.training.loss == Loss::kBinaryCrossEntropy) {
    refuse("training.loss",
           fmt::format("binaryCrossEntropy needs several labels per vertex, {} has one class (use "
                       "crossEntropy)",
                       meta.name));
  }
}

}  // namespace

fs::path stored_dataset(const std::string& called) {
  const fs::path below_root = usual_root() / called;
  return !fs::exists(called) && fs::exists(below_root) ? below_root : fs::path(called);
}

LoadedJob load_job_of(const Arguments& a, Say say) {
  std::vector<Override> overrides = a.all("--set");
  if (a.has("--ranks")) overrides.push_back("placement.ranks=" + a.get("--ranks"));
  LoadedJob loaded = load_job(a.get("--file"), overrides);
  for (const auto& warning : loaded.warnings) say("warning: " + warning);
  return loaded;
}

fs::path dataset_of(const Arguments& a, const LoadedJob& loaded, Say say) {
  const fs::path place = find_dataset(loaded, data_root(a), say);
  check_against(loaded, Dataset::open(place).meta());
  return place;
}

fs::path dataset_place(const Arguments& a, const Job& job) {
  return place_in(data_root(a), job.dataset);
}

PreparedGraph prepare_graph(const LoadedJob& loaded, const Dataset& dataset, Say say) {
  const Job& job = loaded.job;
  const PartitionOptions options = partition_options(job, job.placement.ranks);
  const auto marks = training_marks(dataset, job);
  if (std::find(marks.begin(), marks.end(), 1) == marks.end()) {
    fail("{}: dataset.split: split '{}' column {} of {} has no training vertex; choose another split",
         where_of(loaded.given, "dataset.split"), job.dataset.split, job.dataset.split_column,
         dataset.meta().name);
  }
  const auto announce = [&](Index bytes) {
    say(fmt::format("preparing the graph of {} for {} rank{}: {} of memory at most", dataset.meta().name,
                    options.parts, options.parts == 1 ? "" : "s", bytes_text(double(bytes))));
  };
  return PreparedGraph::make(dataset, options, graph_transforms(job), marks, announce);
}

int threads_of(const Arguments& a, const Job& job) {
  const int share = std::max(1, available_cores() / job.placement.ranks);
  const int stated = job.resources.cpu > 0 ? std::max(1, int(job.resources.cpu)) : share;
  return int(a.integer("--threads", stated, 1, 1024));
}

}  // namespace atl
