#include "launch/rank_words.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace atl {
namespace {
constexpr const char* kKilled = "ended by signal";
constexpr std::array kNews = {"has started", "leaves", "has ended"};  // by RankWord
}  // namespace

std::string rank_news(int rank, const std::string& host, RankWord word) {
  return fmt::format("atoll-rank: {} on {} {}", rank, host, kNews[std::size_t(word)]);
}

std::optional<RankNews> read_rank_news(const std::string& line) {
  RankNews news;
  char host[256] = {};
  int at = 0;
  if (std::sscanf(line.c_str(), "atoll-rank: %d on %255s %n", &news.rank, host, &at) != 2) return {};
  news.host = host;
  for (std::size_t word = 0; word < kNews.size(); ++word)
    if (line.compare(std::size_t(at), std::string::npos, kNews[word]) == 0) {
      news.word = RankWord(word);
      return news;
    }
  return {};
}

std::string rank_failure(int rank, const std::string& host, const std::string& why) {
  return fmt::format("atoll: rank {} on {}: {}", rank, host, why);
}

std::string rank_killed(int rank, const std::string& host, int signal) {
  return rank_failure(rank, host, fmt::format("{} {}", kKilled, signal));
}

std::optional<FailedRank> read_rank_failure(const std::string& line) {
  FailedRank failed;
  char host[256] = {};
  int why = 0;
  if (std::sscanf(line.c_str(), "atoll: rank %d on %255[^: ]: %n", &failed.rank, host, &why) != 2) return {};
  failed.host = host;
  if (const auto text = line.substr(std::size_t(why)); text.starts_with(kKilled))
    std::sscanf(text.c_str() + std::strlen(kKilled), " %d", &failed.signal);
  return failed;
}

}  // namespace atl
