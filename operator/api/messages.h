// Messages from a job's pods to the operator: the launcher's result, a worker's last word of a rank, the
// prepare step's findings. All come from containers, so they are checked, not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/layout.h"
#include "operator/api/status.h"

namespace atl::ctl {

/// Where something ended badly, and why. A launcher reports Signal | Exit | Lost, or Disconnected where a
/// lost server answers again. A worker's supervisor reports OOMKilled | DaemonEnded, or Stopped where it was
/// told to stop.
struct RankEnd {
  Culprit culprit;
  std::string reason, message;
};

/// A launcher's termination message.
struct LaunchResult {
  int status = 0;       // exit status of `atoll run` for the same end; 130: interrupted
  std::string outcome;  // completed | stopped early | …; "" where rank 0 reported nothing
  Result result;
  std::optional<std::int64_t> epochs;  // finished
  std::optional<RankEnd> rank_end;
  std::string message;
};

/// Nothing where the text isn't a launcher's message.
std::optional<LaunchResult> read_launch_result(const std::string& message);
/// Reads a worker's message.
std::optional<RankEnd> read_rank_end(const std::string& message);

/// The prepare step's findings about the data set's parts.
struct Prepared {
  std::string checksum;  // of the prepared graph
  int ranks = 0;
  std::vector<int> parts;        // (ranks) the part that each trains; empty: the part of its own number
  std::vector<PairBytes> flows;  // bytes per epoch, between ranks
  double unlisted_flow = 0;      // of each pair of servers that has no ranks in `flows`
  std::string strategy{};  // the strategy chosen for auto, as YAML on one line; "": the manifest names one
  std::string strategy_reason{};
};

/// Flows between ranks, including those of pairs of servers that `prepared` doesn't list: they go between the
/// servers' first ranks. Among thousands of servers, some unlisted pairs stand for all (pairs_of_all()).
/// `servers`: the ranks of each.
std::vector<PairBytes> all_flows(const Prepared& prepared, const std::vector<std::vector<Rank>>& servers);

/// The last line of a log that has any text; "" where none has.
std::string last_line(const std::string& log);

/// Reads the last line of the prepare pod's log. Nothing where that isn't a result.
std::optional<Prepared> read_prepared(const std::string& line);

// Errors of a rank's GPU for which its node is to blame, told from their words: those of CUDA, of the engine,
// of NVIDIA's driver, and of the runtime that hands GPUs to a container.

/// The node's GPU is at fault, or its driver doesn't suit the engine.
inline constexpr const char *kGpuFault = "GpuFault", *kGpuDriver = "GpuDriver";
inline bool is_of_gpu(const std::string& reason) {
  return reason == kGpuFault || reason == kGpuDriver;
}

struct GpuBlame {
  const char* reason;                // one of the two
  std::optional<std::int64_t> rank;  // that the error's line names before these words, if any
};

/// What a rank's error says of its GPU; nothing where that isn't to blame.
std::optional<GpuBlame> gpu_blame(const std::string& message);

}  // namespace atl::ctl
