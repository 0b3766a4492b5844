// What a job's pods leave behind for the operator: the launcher's result, a worker's last word of a rank,
// what the prepare step found. All of it comes from containers and is judged, not trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/layout.h"
#include "operator/api/status.h"

namespace atl::ctl {

/// Where something ended badly, and why. A launcher sees Signal | Exit | Lost, or
/// Disconnected where a lost server answers again; a worker's supervisor says OOMKilled |
/// DaemonEnded, or Stopped where it was told to.
struct RankEnd {
  Culprit culprit;
  std::string reason, message;
};

/// A launcher's termination message.
struct LaunchResult {
  int status = 0;       // what `atoll run` would exit with; 130: interrupted
  std::string outcome;  // completed | stopped early | …; "" where rank 0 said nothing
  Result result;
  std::optional<std::int64_t> epochs;  // finished
  std::optional<RankEnd> rank_end;
  std::string message;
};

/// Nothing where the text isn't such a message.
std::optional<LaunchResult> read_launch_result(const std::string& message);
/// A worker's.
std::optional<RankEnd> read_rank_end(const std::string& message);

/// What the prepare step found out about the data set's parts.
struct Prepared {
  std::string checksum;  // of the prepared graph
  int ranks = 0;
  std::vector<int> parts;        // (ranks) the part that each trains; empty: that of its own number
  std::vector<PairBytes> flows;  // an epoch, between ranks
  double unlisted_flow = 0;      // of each pair of servers of which no ranks are among them
  std::string strategy{};        // what strategy auto stands for, as YAML on one line; "": the manifest's
  std::string strategy_reason{};
};

/// The last line of its log. Nothing where it isn't its result.
std::optional<Prepared> read_prepared(const std::string& line);

}  // namespace atl::ctl
