#include "base/text.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

constexpr auto kFine = std::string_view::npos;

TEST(FindInvalidUtf8, TakesEveryLengthAndTheEndsOfEachRange) {
  EXPECT_EQ(find_invalid_utf8(""), kFine);
  EXPECT_EQ(find_invalid_utf8("plain, ü, €, 𝄞"), kFine);
  EXPECT_EQ(find_invalid_utf8("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
            kFine);
}

TEST(FindInvalidUtf8, SaysWhere) {
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u) << "a continuation alone";
  EXPECT_EQ(find_invalid_utf8("a\xec"), 1u) << "cut short";
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xe0\x9f\xbf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xf0\x8f\xbf\xbf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0u) << "a surrogate";
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u) << "above U+10FFFF";
  EXPECT_EQ(find_invalid_utf8("\xff"), 0u);
}

}  // namespace
}  // namespace atl
