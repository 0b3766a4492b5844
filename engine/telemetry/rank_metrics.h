// What a rank tells Prometheus of itself: every metric, once, made from the run's records.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "telemetry/observer.h"

namespace atl {

/// Told by the loop's thread, read by any.
class RankMetrics {
 public:
  explicit RankMetrics(Rank rank);
  ~RankMetrics();

  void start(const RunRecord& run);
  void add(const StepRecord& step);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch);

  /// The page, in Prometheus' text format. Memory is read when asked for, so that it is right in the middle
  /// of a long epoch too.
  std::string text();

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  std::string metric_;  // the run's: accuracy, …
};

// Prometheus' text format, in which a page may speak of a metric in one place alone.

/// Pages of several ranks as one: what is said of a metric (# HELP, # TYPE) stands there once, and all
/// samples follow it, in the order of the pages.
std::string join_expositions(std::span<const std::string> pages);

}  // namespace atl
