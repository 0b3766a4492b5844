#include "command/job_data.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/option_fields.h"
#include "dataset/dataset.h"
#include "dataset/generate/generate.h"
#include "job/load.h"
#include "model/model.h"
#include "tensor/context.h"
#include "train/checkpoint/checkpoint.h"
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

/// A message about a data root that is a data set itself, or "".
std::string is_no_root(const fs::path& root) {
  std::error_code absent;
  if (!fs::exists(root / "meta.json", absent)) return {};
  const fs::path whole = fs::absolute(root / "").lexically_normal().parent_path();
  return fmt::format(" (which is a data set itself: the root is the folder that holds it, {})",
                     whole.parent_path().string());
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
        "{}: dataset.name: no data set '{}' under {}{}{}; import one with `atoll dataset import`, or name "
        "another root "
        "with --data-root",
        where_of(loaded.given, "dataset.name"), spec.name, fs::absolute(root).string(), is_no_root(root),
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
      "{0}: no such folder, and no data set of this name under {1}{2}{3}; import one with `atoll dataset import`, or say where "
      "data sets are with ATOLL_DATA_ROOT",
      called, fs::absolute(usual_root()).string(), is_no_root(usual_root()),
      suggestion(called, folders_in(usual_root())));
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

int most_on_one_host(const std::vector<std::string>& hosts) {
  std::map<std::string, int> ranks;
  int most = 0;
  for (const std::string& host : hosts) most = std::max(most, ++ranks[host]);
  return most;
}

std::optional<int> stated_threads(const Arguments& a, const Job& job) {
  if (a.has("--threads")) return int(a.integer("--threads", 1, 1, 1024));
  if (job.resources.cpu > 0) return std::max(1, int(job.resources.cpu));
  return {};
}

int threads_of(const Arguments& a, const Job& job, const std::vector<std::string>& hosts) {
  const int together = hosts.empty() ? job.placement.ranks : most_on_one_host(hosts);
  return stated_threads(a, job).value_or(std::max(1, available_cores() / together));
}

Argument prepared_argument() {
  return {"--prepared", "DIR", "folder for prepared graphs (ATOLL_PREPARED, or beside each data set)"};
}

std::filesystem::path prepared_place(const Arguments& a) {
  const char* variable = std::getenv("ATOLL_PREPARED");
  const std::string folder = a.get("--prepared", variable != nullptr ? variable : "");
  return folder.empty() ? std::filesystem::path() : std::filesystem::absolute(folder);
}

MachineRates measured_rates(int ranks, int threads) {
  ThreadPool pool(std::min(available_cores(), ranks * threads));
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  MachineRates rates = measure_rates(ctx);
  measure_kernels(ctx, rates);
  rates.call_seconds = kCallSeconds;
  for (double* rate : {&rates.triad_bytes, &rates.gather_bytes, &rates.product_flops, &rates.kernel_flops,
                       &rates.half_flops})
    *rate /= ranks;
  for (KernelBytes* bytes : {&rates.caches[0], &rates.caches[1], &rates.memory})
    bytes->streamed /= ranks, bytes->gathered /= ranks;
  return rates;
}

void go_on_with_self_loops(const std::filesystem::path& output, LoadedJob& loaded) {
  Job& job = loaded.job;
  if (loaded.given.contains("dataset.selfLoops") || !has_checkpoint(output) ||
      !std::filesystem::exists(output / "job.yaml"))
    return;
  const Job until_now = load_job(output / "job.yaml").job;
  if (until_now.model.kind == job.model.kind && until_now.dataset.self_loops == SelfLoops::kModel)
    job.dataset.self_loops = SelfLoops::kModel;
}

std::string self_loops_line(const DatasetMeta& meta, const Job& job) {
  if (meta.self_loops == 0) return {};
  const std::string loops = counted_text(meta.self_loops, "self-loop"), &kind = job.model.kind;
  const char* const are = meta.self_loops == 1 ? "is" : "are";
  switch (self_loops_of(job)) {
    case SelfLoops::kAdd:
      return fmt::format(
          "{}: {} reads each vertex itself once, with or without a self-loop (the data have {})", meta.name,
          kind, loops);
    case SelfLoops::kRemove:
      return fmt::format(
          "{}: {} {} left out: {}", meta.name, loops, are,
          job.dataset.self_loops == SelfLoops::kRemove
              ? "dataset.selfLoops is remove"
              : "this run began before " + kind + " kept them (--fresh starts over with them)");
    default:
      return fmt::format(
          "{}: {} {} kept: a vertex that has one is among its own neighbours (dataset.selfLoops: remove leaves "
          "them out)",
          meta.name, loops, are);
  }
}

}  // namespace atl
