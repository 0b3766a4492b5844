// Compares the same work under several strategies: reads runs from their output folders, makes a table.
// Ratios are formed within a round, in which the machine was the same for all runs. The first strategy runs
// twice in each round, so that its two runs show the noise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/layout.h"
#include "plan/dry_run.h"
#include "telemetry/record.h"

namespace atl {

/// One entry of the list, with its runs of all rounds.
struct StrategyRuns {
  std::string label;                            // "pipegcn:smoothing=both"
  bool hides = false;                           // its communication may travel while the compute thread works
  TrafficBytes planned{};                       // sent by all ranks in an epoch, as `atoll plan` says
  TrafficBytes planned_between{};               // the part of `planned` that goes between servers
  PlannedBytes epochs = PlannedBytes::kOfEach;  // the epochs that send as planned
  std::vector<RunRecord> rounds;                // one run per round
};

/// Seconds of an epoch, as medians over rounds. They are those of the rank that computes longest: the other
/// ranks wait for it, and these waits aren't communication.
struct StrategyRow {
  std::string label;
  bool again = false;          // the first strategy's second run
  std::vector<double> epochs;  // (rounds): median over its steady epochs
  double epoch_median = 0, epoch_min = 0;
  double compute = 0, exposed = 0, communication = 0, progress_cpu = 0;
  double ideal = 0;   // max(compute, communication) if the strategy hides communication, else their sum
  std::string bound;  // what sets `ideal`: "compute", "communication", "compute + communication"
  std::vector<double> speed_ups;       // (rounds): the first strategy's epoch over this one's
  std::vector<LinkTraffic> bytes;      // sent by all ranks in an epoch; as planned
  std::vector<std::int64_t> memory;    // (ranks): peak, in the worst round
  std::optional<double> test;          // median of the rounds
  const StrategyRuns* runs = nullptr;  // the runs that the figures are from
  double speed_up() const { return median(speed_ups); }
  double epoch_over_ideal() const { return ideal > 0 ? epoch_median / ideal : 0; }
};

struct StrategyBench {
  std::string link,
      rig;  // link: rate as given, "" without one; rig: a JSON object, "" for this machine as it is
  double share_asked = 0, share_reached = 0;  // by --comm-share; 0: not asked for
  std::vector<StrategyRow> rows;              // in the list's order; the last is the first strategy again

  /// Least and largest ratio, over rounds, of the first strategy's two runs, extended to contain 1. A
  /// speed-up counts only outside this range.
  std::pair<double, double> noise() const;
};

/// `runs` are in the list's order; the last is the first strategy again. All have equally many rounds, and
/// must outlive the rows. Throws Error where a run sent other bytes than planned, or has no steady epoch.
std::vector<StrategyRow> compare_strategies(const std::vector<StrategyRuns>& runs);

/// The comparison for a terminal, and as one JSON object.
std::string to_text(const StrategyBench& bench);
std::string to_json(const StrategyBench& bench);

// At which link rate does communication take a given share of a synchronous epoch? Papers characterise their
// clusters by that share.

/// A synchronous epoch at one rate.
struct SharedEpoch {
  double rate = 0;                        // of a link, bits a second
  double compute = 0, communication = 0;  // seconds
  double share() const { return communication / (compute + communication); }
};

/// Takes communication as a fixed time plus a time proportional to 1 / rate: the line nearest to all
/// measurements. Where the measurements give no such line (they are fewer than two, or the link wasn't the
/// limit), it takes the line through the last one, with no fixed time. Throws Error where the fixed time
/// alone exceeds the share.
double rate_for_share(double share, std::span<const SharedEpoch> measured);

}  // namespace atl
