#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace atl {
namespace {

TEST(Readable, Durations) {
  EXPECT_EQ(duration_text(0), "0.00 µs");
  EXPECT_EQ(duration_text(850e-6), "850 µs");
  EXPECT_EQ(duration_text(999.9e-6), "1.00 ms");
  EXPECT_EQ(duration_text(0.01234), "12.3 ms");
  EXPECT_EQ(duration_text(4.2), "4.20 s");
  EXPECT_EQ(duration_text(59.99), "1m 00s");
  EXPECT_EQ(duration_text(304), "5m 04s");
  EXPECT_EQ(duration_text(3599.6), "1h 00m");
  EXPECT_EQ(duration_text(7500), "2h 05m");
  EXPECT_EQ(duration_text(76 * 3600.), "3d 04h");
  EXPECT_EQ(duration_text(NAN), "?");
}

TEST(Readable, Bytes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1023.9), "1.00 KiB");
  EXPECT_EQ(bytes_text(1.21 * 1024 * 1024), "1.21 MiB");
  EXPECT_EQ(bytes_text(99.96 * 1024), "100 KiB");
  EXPECT_EQ(bytes_text(3e18), "2665 PiB");
}

TEST(Readable, Counts) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(2708), "2,708");
  EXPECT_EQ(count_text(-1234567), "-1,234,567");
  EXPECT_EQ(count_text(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,854,775,807");
}

TEST(Readable, Percents) {
  EXPECT_EQ(percent_text(0.8154), "81.5 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
}

TEST(Readable, Lists) {
  const std::vector<std::string> words{"a", "b", "c"};
  EXPECT_EQ(joined(words, ", "), "a, b, c");
  EXPECT_EQ(joined(std::span(words).first(1), ", "), "a");
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}, ","), ",b,");  // empty ones count
  EXPECT_EQ(joined(std::set<std::string>{"z", "y"}, " or "), "y or z");
  constexpr const char* kLiterals[] = {"dense", "sparse"};
  EXPECT_EQ(joined(kLiterals, "', '"), "dense', 'sparse");
}

TEST(Readable, ListsOfNumbers) {
  EXPECT_EQ(joined(std::vector<int>{3, 0, -2}, ","), "3,0,-2");
  EXPECT_EQ(joined(std::vector<std::int64_t>{9'000'000'000'000'000'000}, ","), "9000000000000000000");
  EXPECT_EQ(joined(std::vector<std::int8_t>{65, 66}, ","), "65,66");  // no characters
}

}  // namespace
}  // namespace atl
