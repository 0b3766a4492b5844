// The rank that hangs is found behind the ranks that wait for it, whatever servers report.
#include "operator/run/rank_pages.h"

#include <gtest/gtest.h>

namespace atl::ctl {
namespace {

/// Servers by rank, each with what it says; a rank that no server here has is silent.
struct Servers {
  std::vector<ServerWaits> all;
  int asked = 0;

  std::optional<Rank> stalled(Rank first) {
    return stalled_rank(first, [this](Rank rank) -> std::optional<ServerWaits> {
      ++asked;
      for (const ServerWaits& server : all)
        if (server.contains(rank)) return server;
      return {};
    });
  }
};

using Ranks = std::vector<Rank>;

TEST(StalledRank, IsTheOneThatWaitsForNobody) {
  Servers servers{{{{0, Ranks{1}}, {1, Ranks{2}}}, {{2, Ranks{3}}, {3, Ranks{}}}}};
  EXPECT_EQ(servers.stalled(0), 3);
  EXPECT_EQ(servers.asked, 2) << "each server once";
  EXPECT_EQ(servers.stalled(3), 3);
}

TEST(StalledRank, IsTheOneThatDoesNotAnswer) {
  Servers one_rank{{{{0, Ranks{1}}, {1, std::nullopt}}}};
  EXPECT_EQ(one_rank.stalled(0), 1);
  Servers whole_server{{{{0, Ranks{1}}, {1, Ranks{2}}}}};
  EXPECT_EQ(whole_server.stalled(0), 2);
}

TEST(StalledRank, IsFoundBehindRanksThatWaitForEachOther) {
  Servers servers{{{{0, Ranks{1, 2}}, {1, Ranks{0}}, {2, Ranks{0, 3}}, {3, Ranks{}}}}};
  EXPECT_EQ(servers.stalled(0), 3);
}

TEST(StalledRank, IsNobodyInACircleOrInALongChain) {
  Servers circle{{{{0, Ranks{1}}, {1, Ranks{0}}}}};
  EXPECT_EQ(circle.stalled(0), std::nullopt);
  Servers chain;
  for (Rank rank = 0; rank < 100; ++rank) chain.all.push_back({{rank, Ranks{rank + 1}}});
  EXPECT_EQ(chain.stalled(0), std::nullopt);
  EXPECT_LT(chain.asked, 20) << "a few servers";
}

TEST(StalledRank, IsNobodyWhereServersSpeakOfOthers) {
  const auto stalled = stalled_rank(0, [](Rank) { return ServerWaits{{7, Ranks{0}}}; });
  EXPECT_EQ(stalled, std::nullopt);
}

TEST(Waits, AreReadFromAServersPage) {
  const auto waits = read_waits(R"({"epoch": 3, "ranks": [
      {"rank": 0, "answers": true, "waitingFor": [1, 2], "waitedSeconds": 7.5},
      {"rank": 1, "answers": false}, {"rank": 3, "answers": true, "waitingFor": []}]})",
                                4);
  ASSERT_TRUE(waits);
  EXPECT_EQ(*waits, (ServerWaits{{0, Ranks{1, 2}}, {1, std::nullopt}, {3, Ranks{}}}));
}

TEST(Waits, AreNotMadeOfNonsense) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "{}", R"({"ranks": 7})", R"({"ranks": {"0": []}})", R"({"ranks": null})"})
    EXPECT_FALSE(read_waits(text, 4)) << text;
  for (const char* entry :
       {"7", "null", "[]", "{}", R"({"rank": -1})", R"({"rank": 4})", R"({"rank": "0"})", R"({"rank": 0.5})",
        R"({"rank": 1e300})", R"({"rank": 18446744073709551615})", R"({"rank": -9223372036854775808})"})
    EXPECT_EQ(read_waits(R"({"ranks": [)" + std::string(entry) + "]}", 4), ServerWaits{}) << entry;
  for (const char* peers : {"7", "null", "{}", R"(["1"])", "[-1, 4, 1e9, null, [2], 18446744073709551615]"})
    EXPECT_EQ(
        read_waits(R"({"ranks": [{"rank": 0, "answers": true, "waitingFor": )" + std::string(peers) + "}]}",
                   4),
        (ServerWaits{{0, Ranks{}}}))
        << peers;
  EXPECT_EQ(read_waits(R"({"ranks": [{"rank": 0, "answers": "yes", "waitingFor": [1]}]})", 4),
            (ServerWaits{{0, std::nullopt}}));
  std::string deep = R"({"ranks": )";
  deep += std::string(60'000, '[');
  EXPECT_FALSE(read_waits(deep, 4));
}

}  // namespace
}  // namespace atl::ctl
