#include "command/job_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/readable.h"
#include "base/threads.h"
#include "command/prepared_place.h"
#include "command/reminder.h"
#include "command/synthetic.h"
#include "command/training_fit.h"
#include "dataset/dataset.h"
#include "dataset/generate/dataset.h"
#include "job/load.h"
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
    if (!exists_whole(place)) {
      say("generating " + place.string());
      generate_dataset(community_spec(spec.synthetic), place, {});
    } else {
      Dataset::open(place).verify();
    }
    return place;
  }
  if (!exists_whole(place)) {
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

}  // namespace

fs::path stored_dataset(const std::string& called) {
  if (exists_whole(called)) return called;
  const fs::path below_root = usual_root() / called;
  if (exists_whole(below_root)) return below_root;
  fail(
      "{0}: no such folder, and no data set of this name under {1}{2}; import one with `atoll dataset import`, or say where "
      "data sets are with ATOLL_DATA_ROOT",
      called, fs::absolute(usual_root()).string(), suggestion(called, folders_in(usual_root())));
}

LoadedJob load_job_of(const Arguments& a, Say say) {
  std::vector<Override> overrides = a.all("--set");
  if (a.has("--ranks")) overrides.push_back("placement.ranks=" + a.get("--ranks"));
  LoadedJob loaded = load_job(a.get("--file"), overrides);
  settle_self_loops(loaded);
  for (const auto& warning : loaded.warnings) say("warning: " + warning);
  return loaded;
}

Dataset dataset_of(const Arguments& a, const LoadedJob& loaded, Say say) {
  Dataset dataset = Dataset::open(find_dataset(loaded, data_root(a), say), prepared_place(a));
  check_trainable(loaded, dataset);
  for (const std::string& doubt : training_doubts(loaded, dataset)) say("warning: " + doubt);
  return dataset;
}

fs::path dataset_place(const Arguments& a, const Job& job) {
  return place_in(data_root(a), job.dataset);
}

bool is_prepared(const LoadedJob& loaded, const Dataset& dataset) {
  const Job& job = loaded.job;
  return PreparedGraph::exists(dataset, partition_options(job, job.placement.ranks), graph_transforms(job),
                               training_marks(dataset, job));
}

PreparedGraph prepare_graph(const LoadedJob& loaded, const Dataset& dataset, Say say) {
  const Job& job = loaded.job;
  const PartitionOptions options = partition_options(job, job.placement.ranks);
  const auto marks = training_marks(dataset, job);
  std::optional<Reminder> reminder;
  const auto announce = [&](Index bytes) {
    const bool by_volume = options.kind == "metis" && options.objective == "volume";
    reminder.emplace(
        say, "preparing",
        by_volume ? "METIS takes long where vertices have hundreds of neighbours; by placement.partitioner "
                    "{kind: metis, objective: cut} it takes less"
                  : "");
    say(fmt::format("preparing the graph of {} in {}: {} of memory at most", dataset.meta().name,
                    counted_text(options.parts, "part"), bytes_text(double(bytes))));
  };
  return PreparedGraph::make(dataset, options, graph_transforms(job), marks, announce);
}

int threads_of(const Arguments& a, const Job& job) {
  const int share = std::max(1, available_cores() / job.placement.ranks);
  const int stated = job.resources.cpu > 0 ? std::max(1, int(job.resources.cpu)) : share;
  return int(a.integer("--threads", stated, 1, 1024));
}

}  // namespace atl
