// A rank's last words where it fails by itself. `launch` knows them when it hears them, because mpirun may never tell: it waits
// for every host's daemon to end first, and one that can't be reached any more doesn't.
#pragma once

#include <optional>
#include <string>

namespace atl {

/// One line: "atoll: rank 1 on server1: why".
std::string rank_failure(int rank, const std::string& host, const std::string& why);

struct FailedRank {
  int rank = -1;
  std::string host;
};
/// Nothing where the line is another.
std::optional<FailedRank> read_rank_failure(const std::string& line);

}  // namespace atl
