// A manifest → a Job that can be run: the one way in, for files, for text and for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "job/job.h"
#include "job/rule.h"

namespace atl {

/// The file that stands for standard input: the manifest comes through a pipe, as kubectl has it.
inline constexpr const char* kStandardInput = "-";

/// A change given on the command line: "training.epochs=50", "training.optimizer={kind: sgd, momentum: 0.9}".
using Override = std::string;

struct LoadedJob {
  Job job;
  Given given;
  std::vector<std::string> warnings;
};

/// Throws Error whose message has one line for each thing that is wrong: "gnnjob.yaml:14: field: value … (use
/// …)".
LoadedJob load_job(const std::filesystem::path& file, const std::vector<Override>& overrides = {});

/// The same for text; `name` stands in locations.
LoadedJob parse_job(const std::string& text, const std::string& name,
                    const std::vector<Override>& overrides = {});

/// What `dataset.selfLoops: model` means, of a manifest that somebody gives; not of one that a run has
/// written. It means: as the model is defined, and sage's mean, gin and resgcn are defined over the arcs that
/// there are, self-loops among them (as in PyG and DGL). What a run writes says `keep` then. One that says
/// `model` for these was written before, when they left the data's self-loops out: its model predicts, and
/// its run goes on, as it was trained.
void settle_self_loops(Job& job);
void settle_self_loops(LoadedJob& loaded);

}  // namespace atl
