// The last words of a rank that fails, its own or its witness's. `launch` knows them when it hears them, because mpirun may
// never tell: it tells of one rank alone, and waits for every host's daemon to end first, also for one that can't be reached
// any more.
#pragma once

#include <optional>
#include <string>

namespace atl {

/// One line: "atoll: rank 1 on server1: why".
std::string rank_failure(int rank, const std::string& host, const std::string& why);
/// As its witness says: "atoll: rank 1 on server1: ended by signal 9".
std::string rank_killed(int rank, const std::string& host, int signal);

struct FailedRank {
  int rank = -1;
  std::string host;
  int signal = 0;  // that ended it; 0: it has failed by itself
};
/// Nothing where the line is another.
std::optional<FailedRank> read_rank_failure(const std::string& line);

}  // namespace atl
