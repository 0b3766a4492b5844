#include "job/quantity.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Quantity, KubernetesSuffixes) {
  EXPECT_EQ(parse_quantity("16Gi"), 17179869184.0);
  EXPECT_EQ(parse_quantity("1Ki"), 1024.0);
  EXPECT_EQ(parse_quantity("200k"), 200000.0);
  EXPECT_EQ(parse_quantity("1.5M"), 1500000.0);
  EXPECT_EQ(parse_quantity("2G"), 2e9);
  EXPECT_EQ(parse_quantity("500m"), 0.5);
  EXPECT_EQ(parse_quantity("2e3"), 2000.0);
  EXPECT_EQ(parse_quantity("+3"), 3.0);
  EXPECT_EQ(parse_quantity("-1"), -1.0);
  EXPECT_EQ(parse_quantity(".5"), 0.5);
  EXPECT_EQ(parse_quantity("1E"), 1e18);
}

TEST(Quantity, AnythingElseIsNone) {
  for (const char* text : {"", "Gi", "16GB", "16 Gi", "1K", "inf", "nan", "-inf", "+", "-", ".", "1e999",
                           "0x10", "++1", "+-1", "1,5", "1e3k", "1e3Gi"}) {
    EXPECT_EQ(parse_quantity(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace atl
