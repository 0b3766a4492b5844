// What ranks and their witnesses say to `launch`: how far each rank is, and the last words of one that fails. mpirun may
// never tell: it tells of one rank alone that ends badly, waits for every host's daemon to end first, also for one that
// can't be reached any more, and waits without end for a rank that doesn't.
#pragma once

#include <optional>
#include <string>

namespace atl {

/// kStarted: from then on the rank minds requests to stop. kLeaves: it has nothing more to exchange, and is about to end; said
/// again and again, so that who has fallen silent can be told from who waits for it. kEnded, by its witness: it has ended well.
enum class RankWord { kStarted, kLeaves, kEnded };
struct RankNews {
  int rank = -1;
  std::string host;
  RankWord word = RankWord::kStarted;
};

/// One line: "atoll-rank: 1 on server1 has started".
std::string rank_news(int rank, const std::string& host, RankWord word);
/// Nothing where the line is another.
std::optional<RankNews> read_rank_news(const std::string& line);

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
