// attempt.json: one start of a job on a cluster, written by the operator for the launcher: its number, where
// each rank runs, which part of the graph it trains, the strategy that replaces auto, and the checksum of the
// prepared graph.
//
//   {"attempt": 3, "run": "…", "servers": [{"pod": "cora-0-0", "node": "n1", "address": "10.1.0.5", "ranks":
//   [0, 1]}, …],
//    "parts": [2, 0, 1, 3], "strategy": "{kind: granndis}", "prepared": "e3b0c4…"}
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

struct AttemptServer {
  std::string pod, node, address;
  std::vector<Rank> ranks;
};

struct AttemptFile {
  int attempt = 0;
  std::string run;  // the GNNJob's UID, which all its attempts have in common
  std::vector<AttemptServer> servers;
  std::vector<int> parts;  // (ranks); empty: each rank trains the part of its own number
  std::string strategy;    // the strategy as YAML on one line; "": the manifest's
  std::string prepared;    // checksum of the prepared graph, from `atoll prepare`; "": not known

  const AttemptServer& server_of(Rank rank) const;
};

/// Reads the file. Throws Error, which names file and field, unless each of ranks 0 … ranks − 1, and each
/// part, is listed exactly once.
AttemptFile read_attempt_file(const std::filesystem::path& path, int ranks);

// Writes how a pod's first process ended, or what it found, for readers of its termination message: one JSON
// object, short enough to arrive whole.

/// The most bytes of the text; kubelet keeps the last 4,096 bytes of a file.
inline constexpr std::size_t kLongestWord = 3500;

/// `end` as text, with its "message" cut to fit.
std::string last_word(nlohmann::ordered_json end);

/// Writes last_word() to a file in place, because the file may be a device or a mount that can't be replaced.
/// If that fails, warns on standard error.
void leave_word(const std::string& path, const nlohmann::ordered_json& end);

}  // namespace atl
