#include "launch/rank_failure.h"

#include <fmt/format.h>

#include <cstdio>

namespace atl {

std::string rank_failure(int rank, const std::string& host, const std::string& why) {
  return fmt::format("atoll: rank {} on {}: {}", rank, host, why);
}

std::optional<FailedRank> read_rank_failure(const std::string& line) {
  FailedRank failed;
  char host[256] = {};
  if (std::sscanf(line.c_str(), "atoll: rank %d on %255[^: ]:", &failed.rank, host) != 2) return {};
  failed.host = host;
  return failed;
}

}  // namespace atl
