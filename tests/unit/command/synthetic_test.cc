// dataset.synthetic of a manifest → what is generated.
#include "command/option_fields.h"

#include <gtest/gtest.h>

#include "dataset/catalogue/describe.h"

namespace atl {
namespace {

SyntheticSpec of_preset(const std::string& preset) {
  SyntheticSpec spec;
  spec.kind = "community";
  spec.preset = preset;
  return spec;
}

TEST(Synthetic, VerticesNextToAPresetAreItsSize) {
  SyntheticSpec by_vertices = of_preset("reddit"), by_scale = by_vertices;
  by_vertices.vertices = 23297;
  by_scale.scale = 0.1;
  const CommunitySpec made = community_spec(by_vertices), scaled = community_spec(by_scale);
  EXPECT_EQ(made.vertices, 23297);
  EXPECT_EQ(made.average_degree,
            scaled.average_degree);  // both thinned out to what the classes have room for
  EXPECT_EQ(made.long_shares, scaled.long_shares);
}

TEST(Synthetic, NumbersThatAreGivenReplaceThePresets) {
  SyntheticSpec given = of_preset("flickr");
  given.vertices = 9000, given.features = 8, given.homophily = 0.5, given.train_share = 0.125, given.seed = 3;
  const CommunitySpec made = community_spec(given);
  EXPECT_EQ(made.features, 8);
  EXPECT_EQ(made.homophily, 0.5);
  EXPECT_EQ(made.train, 0.125);
  EXPECT_NE(synthetic_folder("data", given), synthetic_folder("data", of_preset("flickr")));
  EXPECT_EQ(made.seed, 3u);
  EXPECT_EQ(made.classes, 7);
  EXPECT_EQ(made.tail_exponent, find_preset("flickr").spec.tail_exponent);
}

TEST(Synthetic, WithoutAPresetEverythingIsAsGiven) {
  SyntheticSpec given = of_preset("");
  given.vertices = 500, given.average_degree = 6, given.features = 4, given.classes = 3;
  const CommunitySpec made = community_spec(given);
  EXPECT_EQ(made.vertices, 500);
  EXPECT_EQ(made.average_degree, 6);
  EXPECT_EQ(made.classes, 3);
  EXPECT_EQ(made.homophily, 0.7);
  EXPECT_EQ(made.train, 0.5);
}

}  // namespace
}  // namespace atl
