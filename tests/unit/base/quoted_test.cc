#include "base/text.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

using std::string_literals::operator""s;

TEST(Quoted, ShowsTextAsItIs) {
  EXPECT_EQ(in_quotes("alice"), "'alice'");
  EXPECT_EQ(in_quotes("größe 猫 🙂"), "'größe 猫 🙂'");
  EXPECT_EQ(in_quotes(""), "''");
}

TEST(Quoted, EscapesWhatATerminalObeysAndWhatIsNotText) {
  EXPECT_EQ(in_quotes("a\x1b[31mb\t\r\n\x7f"), "'a\\x1b[31mb\\t\\r\\n\\x7f'");
  EXPECT_EQ(in_quotes("\xff\xfe"s + "0\0"s), "'\\xff\\xfe0\\x00'");
  EXPECT_EQ(in_quotes("\xc2\x9b"), "'\\xc2\\x9b'");  // C1: begins a command, as ESC [ does
  EXPECT_EQ(in_quotes("\xe7\x8c"), "'\\xe7\\x8c'");  // a character that is cut off
}

TEST(Quoted, CutsAfterFortyCharacters) {
  EXPECT_EQ(in_quotes(std::string(40, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'a')), "'" + std::string(40, 'a') + "…'");
  std::string wide, cut;
  for (int i = 0; i < 50; ++i) wide += "猫";
  for (int i = 0; i < 40; ++i) cut += "猫";
  EXPECT_EQ(in_quotes(wide), "'" + cut + "…'");
}

TEST(Printable, KeepsLinesAndEscapesTheRest) {
  EXPECT_EQ(printable("a\nb\x1b[2J"s + std::string(60, 'x')), "a\nb\\x1b[2J" + std::string(60, 'x'));
}

}  // namespace
}  // namespace atl
