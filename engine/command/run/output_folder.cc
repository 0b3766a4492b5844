#include "command/run/output_folder.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/readable.h"
#include "job/load.h"
#include "job/strategies.h"
#include "job/write.h"
#include "train/checkpoint/attempt.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/start_over.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Where it fails, nothing was started over.
void write_manifest(const fs::path& output, const Job& job) {
  try {
    write_file_atomically(output / "job.yaml", write_job(job));
  } catch (const Error&) {
    bring_back(output);
    throw;
  }
}

}  // namespace

void check_resumable(const fs::path& output, const Job& job, const OutputOptions& options) {
  const bool resumes = has_checkpoint(output);
  if (options.resume && !resumes)
    fail("--resume: {} holds no checkpoint to resume from (leave --resume out)", output.string());
  if (options.fresh || !resumes || !fs::exists(output / "job.yaml")) return;
  const auto changes = changes_that_forbid_resuming(load_job(output / "job.yaml").job, job);
  if (changes.empty()) return;
  fail(
      "{} holds a run of another manifest ({}): start over with --fresh, or choose another folder with "
      "--output",
      output.string(), fmt::format("{}{}", changes[0], changes.size() > 1 ? ", …" : ""));
}

void say_other_division(const fs::path& output, const Job& job, const OutputOptions& options, Say say) {
  const StrategyInfo& strategy = *find_strategy(job.strategy.kind);
  if (options.fresh || !has_checkpoint(output) || !fs::exists(output / "job.yaml")) return;
  const Job until_now = load_job(output / "job.yaml").job;
  const JobDivision before = strategy.division(until_now), now = strategy.division(job);
  if (before.slices != now.slices)
    say(fmt::format("warning: {0} is {1} on {2}, and this run has had {3} until now (give {3} to keep it)",
                    now.slices_field, now.slices, counted_text(job.placement.ranks, "rank"), before.slices));
  if (before.servers != now.servers)
    say(fmt::format(
        "warning: the graph is divided over {}, and this run has had {} until now: from here other neighbours are left out than "
        "before, where any are (give placement.ranks {} and placement.ranksPerServer {} to keep it)",
        counted_text(now.servers, "server"), before.servers, until_now.placement.ranks,
        until_now.placement.ranks / before.servers));
}

void make_output_folder(const fs::path& output) {
  std::error_code error;
  fs::create_directories(output, error);
  if (error || !fs::is_directory(output)) {
    fail("{}: can't be the output folder: {} (choose another with --output)", output.string(),
         error ? error.message() : "it is a file");
  }
}

int make_output(const fs::path& output, const Job& job, const OutputOptions& options) {
  make_output_folder(output);
  const int attempt = claim_attempt(output, options.attempt,
                                    options.run);  // one that still runs somewhere can't commit any more
  if (options.fresh) set_aside(output);
  write_manifest(output, job);
  return attempt;
}

}  // namespace atl
