// The same work under several strategies, compared: runs as their output folders hold them in, a table out.
// Ratios are formed within a round, where the machine was the same for all; what a strategy is compared with
// is itself, run again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/dry_run.h"
#include "telemetry/record.h"

namespace atl {

/// One entry of the list in all its rounds.
struct StrategyRuns {
  std::string label;        // "pipegcn:smoothing=both"
  bool hides = false;       // its communication may travel while the compute thread works
  bool sends_less = false;  // than planned, in some epochs
  bool draws = false;       // batches or copies, other ones in each epoch: the plan's bytes are of the first
  TrafficBytes planned{};   // sent by all ranks in an epoch, as `atoll plan` says …
  TrafficBytes planned_between{};  // … and of it, between servers
  std::vector<RunRecord> rounds;   // one a round
};

/// Seconds of an epoch on the rank that computes longest: others wait for it, which is no communication of
/// theirs. Of several rounds the middle.
struct StrategyRow {
  std::string label;
  bool again = false;          // the first strategy a second time
  std::vector<double> epochs;  // (rounds): median over its steady epochs
  double epoch_median = 0, epoch_min = 0;
  double compute = 0, exposed = 0, communication = 0, progress_cpu = 0;
  double ideal = 0;                    // hidden: max(compute, communication), else their sum
  std::string bound;                   // by what: "compute", "communication", "compute + communication"
  std::vector<double> speed_ups;       // (rounds): the first strategy's epoch over this one's
  std::vector<LinkTraffic> bytes;      // sent by all ranks in an epoch; as planned
  std::vector<std::int64_t> memory;    // (ranks): peak, of the worst round
  std::optional<double> test;          // middle of the rounds
  const StrategyRuns* runs = nullptr;  // that the figures are of
  double speed_up() const { return median(speed_ups); }
  double epoch_over_ideal() const { return ideal > 0 ? epoch_median / ideal : 0; }
};

struct StrategyBench {
  std::string link,
      rig;  // link: rate as given, "" without one; rig: a JSON object, "" for this machine as it is
  double share_asked = 0, share_reached = 0;  // of --comm-share; 0: not asked for
  std::vector<StrategyRow> rows;              // as listed, last the first one again

  /// The first strategy against itself: least and largest ratio of a round, and 1. Outside it a speed-up is
  /// one.
  std::pair<double, double> noise() const;
};

/// `runs` as listed, last the first one again; all have as many rounds, and outlive the rows. Throws Error
/// where a run sent other bytes than planned, or has no steady epoch.
std::vector<StrategyRow> compare_strategies(const std::vector<StrategyRuns>& runs);

/// For a terminal; one JSON object.
std::string to_text(const StrategyBench& bench);
std::string to_json(const StrategyBench& bench);

// At which link rate does communication take a given share of a synchronous epoch? Papers' clusters are told
// by that share.

/// A synchronous epoch at one rate.
struct SharedEpoch {
  double rate = 0;                        // of a link, bits a second
  double compute = 0, communication = 0;  // seconds
  double share() const { return communication / (compute + communication); }
};

/// Communication taken as a fixed time plus what goes with 1 / rate: the line nearest to all measurements, or
/// through the last one without a fixed time where they make no such line (fewer than two, or the link wasn't
/// the limit). Throws Error where the fixed time alone is more than the share.
double rate_for_share(double share, std::span<const SharedEpoch> measured);

}  // namespace atl
