// A manifest's job under every strategy that it could have (atoll plan --compare), and the one that
// strategy.kind: auto stands for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/job_data.h"
#include "compare/comparison.h"

namespace atl {

struct CompareOptions {
  int threads = 1;                     // of each rank
  std::optional<Topology> topology{};  // none: links of strategy.link, or 10gbit, between …
  std::vector<std::string> hosts{};  // … these (ranks); empty: servers of placement.ranksPerServer, or one
  double link = 0;                   // bytes a second, in place of strategy.link; 0: not given
  std::optional<MachineRates> rates{};  // of a rank; none: measured here
  std::optional<std::int64_t> trial{};  // steps, in place of strategy.trial
};

/// Each kind with its defaults, and the variants that it names (StrategyInfo::variants). Prepares the graph
/// as each needs it.
Comparison compare_strategies(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                              const CompareOptions& options, Say say);

struct ChosenStrategy {
  LoadedJob job;         // as it is to be run
  std::string strategy;  // the manifest's, as YAML on one line: "{kind: granndis, …}"
  std::string why;
};

/// What strategy auto stands for. Throws Error where that is none.
ChosenStrategy choose_strategy(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                               const CompareOptions& options, Say say);

/// The job as it is to be run: with strategy auto the one that it stands for, which is said, otherwise
/// itself. Throws Error where none can be.
LoadedJob concrete_job(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                       const CompareOptions& options, Say say);

/// Whether the job's strategy stands for another.
bool is_open(const Job& job);

/// Of such a job that has been run before, with the strategy of then: that run's manifest has it. Throws
/// Error where `given` asks for an exact one and that isn't.
LoadedJob chosen_before(const Arguments& arguments, const LoadedJob& given,
                        const std::filesystem::path& manifest, Say say);

/// For commands that don't choose. Throws Error where the job's strategy stands for another.
void check_concrete(const Job& job);

/// Trains `graph` for `steps` steps on this machine, ranks as threads, and then each row that isn't exact or
/// refused, the cheapest step first, until it gets to graph's best validation metric less half a point, or
/// has taken more time, as predicted, than the best so far. Enters what they need into the rows. `job_of`:
/// the job with such a change (ComparedStrategy::change). A large graph is tried on a part of it, which lies
/// in the data set's folder meanwhile. Says what it does, and where nothing can be tried.
void try_strategies(Comparison& comparison, const Dataset& dataset, std::int64_t steps,
                    const std::function<LoadedJob(const std::string& change)>& job_of, Say say);

}  // namespace atl
