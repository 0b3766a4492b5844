// What a rank reports to Prometheus: each metric once, made from the run's records.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "telemetry/observer.h"

namespace atl {

/// The loop's thread reports to it; any thread may read it.
class RankMetrics {
 public:
  explicit RankMetrics(Rank rank);
  ~RankMetrics();

  void start(const RunRecord& run);
  void add(const StepRecord& step);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch);

  /// The page, in Prometheus' text format. Memory is read when the page is asked for, so that it is right in
  /// the middle of a long epoch too.
  std::string text();

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  std::string metric_;  // of the run: accuracy, …
};

// In Prometheus' text format, a page may describe a metric in one place only.

/// Pages of several ranks as one. Each metric is described once (# HELP, # TYPE), and all its samples follow,
/// in the order of the pages.
std::string join_expositions(std::span<const std::string> pages);

}  // namespace atl
