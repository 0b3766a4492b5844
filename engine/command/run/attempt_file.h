// attempt.json: one start of a job on a cluster, as the operator tells it to the launcher: its number, where each rank
// runs, which part of the graph it trains, and which strategy auto stands for.
//
//   {"attempt": 3, "run": "…", "servers": [{"pod": "cora-0-0", "node": "n1", "address": "10.1.0.5", "ranks": [0, 1]}, …],
//    "parts": [2, 0, 1, 3], "strategy": "{kind: granndis}"}
#pragma once

#include <filesystem>
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

  const AttemptServer& server_of(Rank rank) const;
};

/// Throws Error, naming file and field, unless ranks 0 … ranks − 1 stand there once each, and so do
/// parts.
AttemptFile read_attempt_file(const std::filesystem::path& path, int ranks);

}  // namespace atl
