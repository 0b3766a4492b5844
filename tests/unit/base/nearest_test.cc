#include "base/text.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known{"epochs", "optimizer", "dropout", "seed", "loss"};
  EXPECT_EQ(nearest_word("epoch", known), "epochs");
  EXPECT_EQ(nearest_word("eopchs", known), "epochs");
  EXPECT_EQ(nearest_word("Optimiser", known), "optimizer");
  EXPECT_EQ(nearest_word("LOSS", known), "loss");
}

TEST(Nearest, StaysSilentWhereNothingIsNear) {
  const std::vector<std::string> known{"epochs", "optimizer"};
  EXPECT_EQ(nearest_word("partitioner", known), "");
  EXPECT_EQ(nearest_word("", known), "");
  EXPECT_EQ(nearest_word("hgt", {"gat", "gcn", "sage"}), "");
  EXPECT_EQ(nearest_word("ddp", {"dgs", "p3"}), "");
  EXPECT_EQ(nearest_word("gnc", {"gat", "gcn", "sage"}), "gcn");
  EXPECT_EQ(nearest_word(std::string(1'000'000, 'e'), known), "");
}

}  // namespace
}  // namespace atl
