// Turns a manifest into a Job that can be run, and a Job back into a manifest. Files, text and tests all load
// jobs through here.
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

/// Settles what `dataset.selfLoops: model` means. Call this on a manifest that a user gives, not on one that
/// a run has written. `model` stands for the model's definition. Sage's mean, gin and resgcn are defined over
/// all arcs including self-loops (as in PyG and DGL), so for these it becomes `keep`, which their runs now
/// write. A run's manifest with `model` for one of these is older: that model was trained without the data's
/// self-loops, and must predict and resume without them.
void settle_self_loops(Job& job);
void settle_self_loops(LoadedJob& loaded);

// The text of a manifest that load_job() reads back to the same Job. It spells out every default.

std::string write_job(const Job& job);

/// The fields in which two jobs differ, but must agree for one to resume from the other's checkpoint:
/// "training.seed: 1 → 2".
std::vector<std::string> changes_that_forbid_resuming(const Job& before, const Job& now);

/// A text with one line per field that `counts` accepts and whose value isn't the default. Jobs with equal
/// keys are the same. The key doesn't change when an API server spells out defaults, or when a later release
/// adds fields.
std::string key_of(const Job& job, const std::function<bool(const Field&)>& counts);

/// The key of the fields that must not change on resuming. Equal keys mean that a checkpoint may be resumed.
std::string resume_key(const Job& job);

}  // namespace atl
