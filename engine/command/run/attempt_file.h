// attempt.json: one start of a job on a cluster, as the operator tells it to the launcher: its number, where
// each rank runs, which part of the graph it trains, which strategy auto stands for, and what the prepared
// graph must be.
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
  std::string run;  // whose attempts these are: the GNNJob's UID
  std::vector<AttemptServer> servers;
  std::vector<int> parts;  // (ranks) by rank; empty: each that of its own number
  std::string strategy;    // as YAML on one line; "": the manifest's
  std::string prepared;    // the prepared graph's checksum, as `atoll prepare` told it; "": not known

  const AttemptServer& server_of(Rank rank) const;
};

/// Throws Error, naming file and field, unless ranks 0 … ranks − 1 stand there once each, and so do
/// parts.
AttemptFile read_attempt_file(const std::filesystem::path& path, int ranks);

// How a pod's first process ended, for whoever reads its termination message: one JSON object, never so long
// that it arrives in part.

/// Of the text; kubelet keeps the last 4,096 bytes of a file.
inline constexpr std::size_t kLongestWord = 3500;

/// As text, its "message" cut to what fits.
std::string last_word(nlohmann::ordered_json end);

/// The same written to a file, which may be a device or a mount that can't be replaced: in place. Where it
/// can't be written, a warning on standard error says so.
void leave_word(const std::string& path, const nlohmann::ordered_json& end);

}  // namespace atl
