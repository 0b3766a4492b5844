// Turns a manifest into a Job that can be run: the only way in, for files, text and tests. And a Job back
// into a manifest.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "job/field.h"
#include "job/job.h"
#include "job/rule.h"

namespace atl {

/// The file name that stands for standard input, as in kubectl.
inline constexpr const char* kStandardInput = "-";

/// A change given on the command line: "training.epochs=50", "training.optimizer={kind: sgd, momentum: 0.9}".
using Override = std::string;

struct LoadedJob {
  Job job;
  Given given;
  std::vector<std::string> warnings;
};

/// Throws Error whose message has one line for each fault: "gnnjob.yaml:14: field: value … (use …)".
LoadedJob load_job(const std::filesystem::path& file, const std::vector<Override>& overrides = {});

/// The same for text; locations begin with `name`.
LoadedJob parse_job(const std::string& text, const std::string& name,
                    const std::vector<Override>& overrides = {});

/// Settles `dataset.selfLoops: model`, for a manifest that a user gives, not for one that a run has written.
/// It means: as the model is defined. Sage's mean, gin and resgcn are defined over all arcs, self-loops among
/// them (as in PyG and DGL), so it becomes `keep`, which their runs now write. A run's manifest with `model`
/// for these is older: its model was trained without the data's self-loops, and must predict and resume so.
void settle_self_loops(Job& job);
void settle_self_loops(LoadedJob& loaded);

// A Job → the text of a manifest that load_job() reads back to the same Job, every default spelled out.

std::string write_job(const Job& job);

/// The paths at which two jobs differ although they must agree for one to resume from the other's checkpoint:
/// "training.seed: 1 → 2".
std::vector<std::string> changes_that_forbid_resuming(const Job& before, const Job& now);

/// One line per field that `counts` and doesn't have its default: jobs with equal keys are the same. Neither
/// defaults that an API server has spelled out nor fields of later releases change it.
std::string key_of(const Job& job, const std::function<bool(const Field&)>& counts);

/// The key of the fields that must not change on resuming. Equal keys mean that a checkpoint may be resumed.
std::string resume_key(const Job& job);

}  // namespace atl
