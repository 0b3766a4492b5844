// The runs of `atoll bench strategies`: each listed strategy is a manifest checked and planned once, and run as `atoll run` in a
// process of its own as often as asked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command/bench/strategy_list.h"
#include "command/command_line.h"
#include "job/job.h"
#include "bench/strategy_bench.h"

namespace atl {

/// Asked to stop in the middle of a run.
struct BenchInterrupted {};

/// One strategy of the list, ready to run.
struct BenchCell {
  ListedStrategy listed;
  Job job;
  std::vector<std::string> changes;  // of the manifest, all of them
  std::string said;                  // of what was changed unasked; "" for nothing
};

/// The manifest of --file under a strategy. Where evaluations would come so often that most epochs follow one, which hides
/// what is under way, they come less often.
BenchCell bench_cell(const Arguments& arguments, const ListedStrategy& listed);

/// As `atoll plan` has it: prepares data set and graph, which every run then finds.
StrategyRuns planned_runs(const Arguments& arguments, const BenchCell& cell);

/// Runs it into `output`, over what lies there; `changes` come on top of the cell's. Throws Error where it fails, and
/// BenchInterrupted.
RunRecord run_cell(const Arguments& arguments, const BenchCell& cell, const std::filesystem::path& output,
                   const std::vector<std::string>& changes = {});

}  // namespace atl
