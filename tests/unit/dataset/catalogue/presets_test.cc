// Presets are the real graphs' shapes at any scale.
#include "dataset/catalogue/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace atl {
namespace {

std::string scale_error(const std::string& name, double scale) {
  try {
    scaled_preset(name, scale, 1);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Presets, AreTheFourGraphsOfThePapers) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.spec.name);
  EXPECT_THAT(names, testing::ElementsAre("reddit", "products", "yelp", "flickr"));
  EXPECT_NEAR(double(find_preset("reddit").spec.vertices) * find_preset("reddit").spec.average_degree,
              114.6e6, 1e5);
  EXPECT_NEAR(double(find_preset("products").spec.vertices) * find_preset("products").spec.average_degree,
              123.7e6, 1e5);
  EXPECT_NEAR(double(find_preset("yelp").spec.vertices) * find_preset("yelp").spec.average_degree, 13.95e6,
              1e5);
  EXPECT_NEAR(double(find_preset("flickr").spec.vertices) * find_preset("flickr").spec.average_degree, 0.9e6,
              1e4);
  EXPECT_TRUE(find_preset("yelp").spec.multi_label);
}

TEST(Presets, EachSaysItsBoundaryRatioAtTwoFourAndEightPartsAndWhoSaysSo) {
  for (const Preset& preset : presets()) {
    for (int parts : {2, 4, 8}) {
      EXPECT_TRUE(std::any_of(preset.boundary.begin(), preset.boundary.end(),
                              [&](const BoundaryRatio& b) {
                                return b.parts == parts && b.ratio > 0 && b.ratio < parts - 1 && *b.source;
                              }))
          << preset.spec.name << " at " << parts;
    }
  }
}

TEST(Presets, KeepDegreeAndHomophilyWhenScaled) {
  for (const Preset& preset : presets()) {
    const CommunitySpec spec = scaled_preset(preset.spec.name, 6000.0 / double(preset.spec.vertices), 3);
    const CommunityGraph graph(spec);
    ThreadPool pool(2);
    const Csr csr = graph.arcs(pool);
    EXPECT_NEAR(double(csr.arcs()) / double(csr.rows), spec.average_degree, spec.average_degree / 50);
    EXPECT_GE(spec.average_degree, spec.name == "reddit" ? 48 : 0.8 * preset.spec.average_degree);
    Index equal = 0;
    for (VertexId v = 0; v < csr.rows; ++v) {
      for (VertexId u : csr.view().row(v)) equal += graph.label(v) == graph.label(u);
    }
    EXPECT_NEAR(double(equal) / double(csr.arcs()), preset.spec.homophily, 0.05) << preset.spec.name;
  }
}

TEST(Presets, HaveASizeByFactorOrByVertices) {
  const CommunitySpec scaled = scaled_preset("reddit", 0.1, 7), sized = sized_preset("reddit", 23297, 7);
  EXPECT_EQ(scaled.vertices, 23297);
  EXPECT_EQ(sized.vertices, 23297);
  EXPECT_EQ(sized.average_degree, scaled.average_degree);
  EXPECT_LT(sized.average_degree, 200);  // 41 classes of 568 vertices have no room for 492 neighbours each
  EXPECT_EQ(sized.community_size, scaled.community_size);
  EXPECT_EQ(sized_preset("reddit", 232965, 1).average_degree, find_preset("reddit").spec.average_degree);
}

TEST(Presets, RefuseUnknownNamesAndScalesWithTheOnesThatWork) {
  EXPECT_THAT(scale_error("redit", 1), testing::HasSubstr("known are reddit, products, yelp, flickr"));
  EXPECT_THAT(scale_error("reddit", 0.001),
              testing::HasSubstr("233 vertices of preset reddit: must be between 492 (12 per class)"));
  EXPECT_THAT(scale_error("reddit", 1000), testing::HasSubstr("at most 100"));
  EXPECT_THAT(scale_error("reddit", std::nan("")), testing::HasSubstr("scale nan"));
  EXPECT_EQ(scale_error("flickr", 0.5), "");
}

}  // namespace
}  // namespace atl
