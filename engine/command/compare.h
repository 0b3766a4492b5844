// Compares a manifest's job under every strategy that it could have (atoll plan --compare), and chooses the
// strategy that replaces strategy.kind: auto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "command/job_data.h"
#include "compare/comparison.h"

namespace atl {

struct CompareOptions {
  int threads = 1;                      // threads of each rank
  std::optional<Topology> topology{};   // none: `hosts`, with links of strategy.link, or 10gbit
  std::vector<std::string> hosts{};     // (ranks) servers; empty: by placement.ranksPerServer, or one
  double link = 0;                      // bytes per second, instead of strategy.link; 0: not given
  std::optional<MachineRates> rates{};  // rates of one rank; none: they are measured here
  std::optional<std::int64_t> trial{};  // steps, instead of strategy.trial, without a limit of time
  bool on_gpus = false;  // the ranks train on GPUs: resources.memory is for what the host keeps
};

/// Compares each kind with its defaults, and the variants that the kind names (StrategyInfo::variants).
/// Prepares the graph as each strategy needs it.
Comparison compare_strategies(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                              const CompareOptions& options, Say say);

struct ChosenStrategy {
  LoadedJob job;         // with the chosen strategy
  std::string strategy;  // the chosen strategy as YAML on one line: "{kind: granndis, …}"
  std::string why;
};

/// Chooses the strategy for strategy.kind: auto. Throws Error where no strategy is possible.
ChosenStrategy choose_strategy(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                               const CompareOptions& options, Say say);

/// The job to run. If its strategy is auto, it is the job under the chosen strategy, about which `say` is
/// told; otherwise it is the job as given. Throws Error where no strategy is possible.
LoadedJob concrete_job(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                       const CompareOptions& options, Say say);

/// Whether the job's strategy is auto, which another strategy has to replace.
bool is_open(const Job& job);

/// The job of a resumed run, with the strategy that was chosen for the run at first, from that run's
/// manifest. Throws Error where `given` asks for an exact strategy and the chosen one isn't exact.
LoadedJob chosen_before(const Arguments& arguments, const LoadedJob& given,
                        const std::filesystem::path& manifest, Say say);

/// Throws Error where the job's strategy has yet to be chosen. For commands that don't choose one.
void check_concrete(const Job& job);

/// What a trial may take.
struct TrialBounds {
  std::int64_t steps;  // optimiser steps of `graph`
  /// The most that trials may take, as a share of the training time predicted for the strategy that would be
  /// chosen without them; infinite: no bound.
  double share = std::numeric_limits<double>::infinity();
  int threads = 1;  // threads of each rank with which computing was predicted
};

/// Trains `graph` on this machine, with ranks as threads, until it has settled (is_settled()) or for the
/// bounds' steps. Then trains each row that isn't exact or refused and is worth a trial, beginning with the
/// row whose trial may save most. A row's trial ends when its validation metric is within half a point of
/// graph's best, or when it has taken more predicted time than the best row so far. Enters the steps needed
/// into the rows. Rows whose trial doesn't end in time stay as they are. `job_of`: the job with a given
/// ComparedStrategy::change. A large graph is replaced by a part of it, kept in the data set's folder
/// meanwhile. Says what it does, and where nothing can be tried.
void try_strategies(Comparison& comparison, const Dataset& dataset, const TrialBounds& bounds,
                    const std::function<LoadedJob(const std::string& change)>& job_of, Say say);

}  // namespace atl
