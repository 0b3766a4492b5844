#include "command/run_plan.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "command/job_data.h"
#include "dataset/dataset.h"
#include "job/write.h"
#include "train/attempt.h"
#include "train/checkpoint.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

fs::path output_folder(const Arguments& a, const Job& job) {
  return a.has("--output") ? fs::path(a.get("--output")) : fs::path("runs") / job.output.path;
}

bool has_checkpoint(const fs::path& output) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(output / "checkpoints", absent)) {
    if (fs::exists(entry.path() / "COMPLETE")) return true;
  }
  return false;
}

/// Whether the run that the folder holds may go on as this job.
void check_resumable(const Arguments& a, const fs::path& output, const Job& job) {
  if (a.has("--fresh") && a.has("--resume")) fail("--fresh and --resume exclude each other");
  const bool resumes = has_checkpoint(output);
  if (a.has("--resume") && !resumes)
    fail("--resume: {} holds no checkpoint to resume from (leave --resume out)", output.string());
  if (a.has("--fresh") || !resumes || !fs::exists(output / "job.yaml")) return;
  const auto changes = changes_that_forbid_resuming(load_job(output / "job.yaml").job, job);
  if (changes.empty()) return;
  fail(
      "{} holds a run of another manifest ({}): start over with --fresh, or choose another folder with "
      "--output",
      output.string(), fmt::format("{}{}", changes[0], changes.size() > 1 ? ", …" : ""));
}

/// Returns the attempt's number. Where the run starts over, the old checkpoints go before the new manifest comes: a kill
/// in between leaves a folder that starts from nothing, never one job's manifest beside another's checkpoints.
int make_output(const fs::path& output, const Job& job, bool fresh) {
  std::error_code error;
  fs::create_directories(output, error);
  if (error || !fs::is_directory(output)) {
    fail("{}: can't be the output folder: {} (choose another with --output)", output.string(),
         error ? error.message() : "it is a file");
  }
  const int attempt = claim_attempt(output);  // from here on, one that still runs somewhere can't commit
  if (fresh) CheckpointStore(output, attempt, job.training.checkpoint.keep).clear();
  write_file_atomically(output / "job.yaml", write_job(job));
  return attempt;
}

}  // namespace

RunPlan plan_run(const Arguments& a, Say say) {
  const LoadedJob loaded = load_job_of(a, say);
  RunPlan plan{loaded.job, {}, output_folder(a, loaded.job), threads_of(a, loaded.job), 0};
  check_resumable(a, plan.output, plan.job);
  plan.dataset = dataset_of(a, loaded, say);
  prepare_graph(loaded, Dataset::open(plan.dataset), say);
  plan.attempt = make_output(plan.output, plan.job, a.has("--fresh"));
  return plan;
}

}  // namespace atl
