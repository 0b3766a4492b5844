#include "command/output_folder.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "job/load.h"
#include "job/write.h"
#include "train/attempt.h"
#include "train/checkpoint.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

bool has_checkpoint(const fs::path& output) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(output / "checkpoints", absent)) {
    if (fs::exists(entry.path() / "COMPLETE")) return true;
  }
  return false;
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

int make_output(const fs::path& output, const Job& job, const OutputOptions& options) {
  std::error_code error;
  fs::create_directories(output, error);
  if (error || !fs::is_directory(output)) {
    fail("{}: can't be the output folder: {} (choose another with --output)", output.string(),
         error ? error.message() : "it is a file");
  }
  const int attempt = claim_attempt(output, options.attempt,
                                    options.run);  // one that still runs somewhere can't commit any more
  if (options.fresh) CheckpointStore(output, attempt, job.training.checkpoint.keep).clear();
  write_file_atomically(output / "job.yaml", write_job(job));
  return attempt;
}

}  // namespace atl
