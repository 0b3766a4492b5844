// The runs of `atoll bench strategies`: each listed strategy is a manifest checked and planned once, and run
// as `atoll run` in a process of its own as often as asked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/strategy_bench.h"
#include "command/command_line.h"
#include "job/job.h"

namespace atl {

// --strategies of `atoll bench strategies`: kinds, each with its options behind it, as changes of a manifest.

struct ListedStrategy {
  std::string label;   // as given: "pipegcn:smoothing=both:decay=0.9"
  std::string kind;    // "pipegcn"
  std::string change;  // of the manifest: "strategy={kind: pipegcn, pipegcn: {smoothing: both, decay: 0.9}}"
};

/// Of "graph:overlap=false,pipegcn". What isn't an option of the kind is one of all strategies
/// ("wire=bfloat16"). Throws Error where an entry is empty or an option has no value; kinds and options are
/// checked with the manifest.
std::vector<ListedStrategy> read_strategy_list(const std::string& text);

/// Asked to stop in the middle of a run.
struct BenchInterrupted {};

/// One strategy of the list, ready to run.
struct BenchCell {
  ListedStrategy listed;
  Job job;
  std::vector<std::string> changes;  // of the manifest, all of them
  std::string said;                  // of what was changed unasked; "" for nothing
};

/// The manifest of --file under a strategy. Evaluations are made rarer where most epochs would follow one,
/// because messages go on while ranks evaluate and would be hidden.
BenchCell bench_cell(const Arguments& arguments, const ListedStrategy& listed);

/// The runs as `atoll plan` has them. Prepares the data set and the graph, so that every run finds them.
StrategyRuns planned_runs(const Arguments& arguments, const BenchCell& cell);

/// Runs the cell, with `changes` after its own, and writes to `output`, replacing what is there. Throws Error
/// where the run fails, and BenchInterrupted.
RunRecord run_cell(const Arguments& arguments, const BenchCell& cell, const std::filesystem::path& output,
                   const std::vector<std::string>& changes = {});

}  // namespace atl
