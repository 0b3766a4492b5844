#include "train/finished_run.h"

#include "base/error.h"
#include "job/load.h"
#include "job/write.h"
#include "telemetry/run_folder.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

std::optional<RunRecord> record_in(const fs::path& output) {
  try {
    return read_run(output);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Link prediction leaves embeddings, and no classes.
bool has_results(const fs::path& output, const Job& job) {
  const char* const predicted = job.task == Task::kLinkPrediction ? "embeddings.npy" : "predictions.npy";
  for (const char* name : {"result.json", "model.safetensors", predicted, "report.html"})
    if (!fs::exists(output / name)) return false;
  return true;
}

Index trained(const RunRecord& run) {
  return run.epochs.empty() ? run.resumed_from : run.epochs.back().epoch;
}

/// As Best::patience_over().
bool patience_over(const RunRecord& run, const Job& job) {
  const int patience = job.training.early_stopping.patience;
  return patience > 0 && run.best_epoch > 0 && trained(run) - run.best_epoch >= patience;
}

bool same_run(const RunRecord& run, const Job& job) {
  try {
    return changes_that_forbid_resuming(parse_job(run.setting.job_yaml, "run.json").job, job).empty();
  } catch (const Error&) {
    return false;  // the manifest is of a version with other fields
  }
}

}  // namespace

std::optional<RunRecord> finished_run(const fs::path& output, const Job& job,
                                      const std::string& dataset_checksum) {
  if (!has_results(output, job)) return std::nullopt;
  std::optional<RunRecord> run = record_in(output);
  if (!run || run->outcome.empty()) return std::nullopt;
  // An interrupted run counts as completed where the job asks for no more epochs.
  if (run->outcome == "interrupted") run->outcome = "completed";
  const bool more = trained(*run) < job.training.epochs && !patience_over(*run, job);
  return more || run->setting.dataset_checksum != dataset_checksum || !same_run(*run, job) ? std::nullopt
                                                                                           : run;
}

std::string finished_words(const RunRecord& run, const Job& job) {
  const Index done = trained(run), asked = job.training.epochs;
  const std::string why =
      done < asked   ? fmt::format("stopped early after {} epochs of {}", done, asked)
      : done > asked ? fmt::format("finished with {} epochs, and training.epochs asks for {}", done, asked)
                     : fmt::format("finished: all {} epochs are trained", done);
  return fmt::format("{} has {}; nothing is trained or changed (to train on, {}; to start over, --fresh)",
                     run.setting.output, why,
                     done < asked ? "raise training.earlyStopping.patience" : "raise training.epochs");
}

}  // namespace atl
