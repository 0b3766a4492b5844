// A manifest → a Job that can be run: the one way in, for files, for text and for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "job/job.h"
#include "job/problems.h"

namespace atl {

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

}  // namespace atl
