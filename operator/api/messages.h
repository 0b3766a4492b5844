// Messages from a job's pods to the operator: the launcher's result, a worker's report of a rank's end, and
// the prepare step's findings. All come from containers, so they are checked, not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/layout.h"
#include "operator/api/status.h"

namespace atl::ctl {

/// Where a rank or a pod ended badly, and why. A launcher reports Signal | Exit | Lost, or Disconnected if a
/// lost server answers again. A worker's supervisor reports OOMKilled | DaemonEnded, or Stopped if it was
/// told to stop.
struct RankEnd {
  Culprit culprit;
  std::string reason, message;
};

/// A launcher's termination message.
struct LaunchResult {
  int status = 0;       // exit status that `atoll run` would have; 130: interrupted
  std::string outcome;  // completed | stopped early | …; "" if rank 0 reported nothing
  Result result;
  std::optional<std::int64_t> epochs;  // epochs that were finished
  std::optional<RankEnd> rank_end;
  std::string message;
};

/// Reads a launcher's message; nothing if the text isn't one.
std::optional<LaunchResult> read_launch_result(const std::string& message);
/// Reads a worker's message; nothing if the text isn't one.
std::optional<RankEnd> read_rank_end(const std::string& message);

/// What the prepare step found out about the data set's parts.
struct Prepared {
  std::string checksum;  // checksum of the prepared graph
  int ranks = 0;
  std::vector<int> parts;        // (ranks) each rank's part; empty: the part of its own number
  std::vector<PairBytes> flows;  // bytes per epoch between ranks
  double unlisted_flow = 0;      // bytes between each pair of servers that isn't in `flows`
  std::string strategy{};        // chosen for auto, YAML on one line; "": the manifest names one
  std::string strategy_reason{};
};

/// All flows between ranks. For pairs of servers that `prepared` doesn't list, a flow between the servers'
/// first ranks is added. Among thousands of servers, some of these pairs stand for all of them
/// (pairs_of_all()). `servers` has the ranks of each server.
std::vector<PairBytes> all_flows(const Prepared& prepared, const std::vector<std::vector<Rank>>& servers);

/// The last line of the log that isn't blank; "" if there is none.
std::string last_line(const std::string& log);

/// Reads the last line of the prepare pod's log; nothing if it isn't a result.
std::optional<Prepared> read_prepared(const std::string& line);

// Errors of a rank's GPU for which its node is to blame. They are recognised by the words of CUDA, of the
// engine, of NVIDIA's driver, and of the runtime that gives GPUs to a container.

/// Two reasons: the node's GPU is at fault, or its driver doesn't suit the engine.
inline constexpr const char *kGpuFault = "GpuFault", *kGpuDriver = "GpuDriver";
inline bool is_of_gpu(const std::string& reason) {
  return reason == kGpuFault || reason == kGpuDriver;
}

struct GpuBlame {
  const char* reason;                // kGpuFault | kGpuDriver
  std::optional<std::int64_t> rank;  // the rank that the line names before the error, if any
};

/// What the message of a rank's end says about its GPU; nothing if the GPU isn't to blame.
std::optional<GpuBlame> gpu_blame(const std::string& message);

}  // namespace atl::ctl
