// attempt.json: the launcher reads what the operator writes; files that it can't follow are refused by file
// and field.
#include "command/run/attempt_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "temporary_folder.h"

namespace atl {
namespace {

class AttemptFileTest : public testing::Test {
 protected:
  AttemptFile read(const std::string& text, int ranks) {
    std::ofstream(path_) << text;
    return read_attempt_file(path_, ranks);
  }
  std::string error_of(const std::string& text, int ranks) {
    try {
      read(text, ranks);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  const std::string path_ = (folder_ / "attempt.json").string();
};

constexpr const char* kTwoServers = R"({"attempt": 3, "run": "a1b2", "servers": [
    {"pod": "j-0-0", "node": "n1", "address": "10.1.0.5", "ranks": [1]},
    {"pod": "j-1-0", "address": "10.1.0.6", "ranks": [0, 2]}]})";

TEST_F(AttemptFileTest, SaysWhereEachRankRuns) {
  const AttemptFile file = read(kTwoServers, 3);
  EXPECT_EQ(file.attempt, 3);
  EXPECT_EQ(file.run, "a1b2");
  EXPECT_EQ(file.server_of(1).node, "n1");
  EXPECT_EQ(file.server_of(2).address, "10.1.0.6");
}

TEST_F(AttemptFileTest, RanksThatAreMissingTwiceOrTooManyAreNamed) {
  EXPECT_THAT(error_of(kTwoServers, 4), testing::HasSubstr("no server has rank 3"));
  EXPECT_THAT(error_of(kTwoServers, 2), testing::HasSubstr("j-1-0 has rank 2"));
  EXPECT_THAT(
      error_of(R"({"attempt": 1, "servers": [{"pod": "a", "address": "1.2.3.4", "ranks": [0, 0]}]})", 1),
      testing::HasSubstr("rank 0 is listed twice"));
}

TEST_F(AttemptFileTest, SaysWhichPartEachRankTrains) {
  const std::string text = kTwoServers, begin = text.substr(0, text.size() - 1);
  EXPECT_TRUE(read(text, 3).parts.empty());
  EXPECT_EQ(read(begin + R"(, "parts": [2, 0, 1]})", 3).parts, (std::vector<int>{2, 0, 1}));
  for (const char* wrong : {"[0, 1]", "[0, 1, 3]", "[0, 1, 1]", "[0, -1, 1]", "[0, 1, 2, 3]"}) {
    EXPECT_THAT(error_of(begin + R"(, "parts": )" + wrong + "}", 3),
                testing::HasSubstr("is not allowed (use each of 0 … 2 once)"))
        << wrong;
  }
  EXPECT_THAT(error_of(begin + R"(, "parts": "0,1,2"})", 3), testing::HasSubstr("is not an attempt's"));
}

TEST_F(AttemptFileTest, SaysWhatThePreparedGraphMustBe) {
  const std::string text = kTwoServers, begin = text.substr(0, text.size() - 1), sum(64, 'a');
  EXPECT_EQ(read(text, 3).prepared, "");
  EXPECT_EQ(read(begin + R"(, "prepared": ")" + sum + "\"}", 3).prepared, sum);
  for (const std::string& wrong : {std::string("12"), sum + "a", std::string(64, 'A'), "--x" + sum.substr(3)})
    EXPECT_THAT(
        error_of(begin + R"(, "prepared": ")" + wrong + "\"}", 3),
        testing::HasSubstr("prepared '" + wrong + "' is not allowed (use a SHA-256, 64 hexadecimal digits)"));
}

TEST_F(AttemptFileTest, WhatIsNoAttemptIsRefused) {
  EXPECT_THAT(error_of("{", 1), testing::HasSubstr("attempt.json: is not"));
  EXPECT_THAT(error_of(R"({"attempt": 1})", 1), testing::HasSubstr("servers"));
  EXPECT_THAT(error_of(R"({"attempt": 0, "servers": [{"pod": "a", "address": "1.2.3.4", "ranks": [0]}]})", 1),
              testing::HasSubstr("attempt 0"));
  EXPECT_THROW(read_attempt_file("/nowhere/attempt.json", 1), Error);
}

}  // namespace
}  // namespace atl
