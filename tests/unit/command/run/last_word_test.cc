// A pod's last message arrives whole, whatever a program printed before it died.
#include "base/json.h"
#include "command/run/attempt_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

Json end_with(const std::string& message) {
  return {{"attempt", 3}, {"status", 1}, {"culprit", {{"rank", 5}, {"pod", "a-1-0"}}}, {"message", message}};
}

TEST(LastWord, AShortOneIsAsItIs) {
  EXPECT_EQ(last_word(end_with("disk full")), end_with("disk full").dump());
}

TEST(LastWord, OfALongMessageTheBeginningFits) {
  for (const std::string& noise : {std::string("x"), std::string("\n"), std::string("\xff"),
                                   std::string("\x01"), std::string("é"), std::string("\"\\")}) {
    std::string message = "rank 5: ";
    while (message.size() < 20'000) message += noise;
    const std::string text = last_word(end_with(message));
    EXPECT_LE(text.size(), kLongestWord);
    EXPECT_GT(text.size(), kLongestWord - 100) << "no more is cut than must be";
    const Json read = parse_ordered_json(text);
    EXPECT_EQ(read.at("culprit").at("rank"), 5);
    EXPECT_TRUE(read.at("message").get<std::string>().starts_with("rank 5: "));
  }
}

TEST(LastWord, IsWholeWhereTheRestIsTooLong) {
  Json end = end_with("disk full");
  end["culprit"]["pod"] = std::string(2 * kLongestWord, 'a');
  const Json read = parse_ordered_json(last_word(end));
  EXPECT_EQ(read.at("culprit"), end.at("culprit"));
  EXPECT_EQ(read.at("message").get<std::string>(), "");
}

TEST(LastWord, IsWrittenInPlace) {
  const auto path = std::filesystem::path(testing::TempDir()) / "last-word";
  std::ofstream(path) << std::string(10'000, 'o');
  leave_word(path.string(), end_with("why"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), end_with("why").dump());
  leave_word("/proc/no/such/place", end_with("why"));  // a warning, no more
}

}  // namespace
}  // namespace atl
