// A rank that runs on another host than the planned one says so.
#include "launch/places.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace atl {
namespace {

const std::vector<Place> kPlaces{{"job-0-0", {1, 12}}, {"job-1-0", {0, 2}}};

std::string error_of(Rank rank, const std::string& host) {
  try {
    check_place(places_text(kPlaces), rank, host);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Places, TheRightHostIsRight) {
  EXPECT_EQ(places_text(kPlaces), "job-0-0:1,12;job-1-0:0,2");
  EXPECT_EQ(error_of(1, "job-0-0"), "");
  EXPECT_EQ(error_of(12, "job-0-0"), "");
  EXPECT_EQ(error_of(2, "job-1-0"), "");
}

TEST(Places, RanksOfOneHostAreKnown) {
  EXPECT_EQ(ranks_beside(places_text(kPlaces), 12), (std::vector<Rank>{1, 12}));
  EXPECT_EQ(ranks_beside(places_text(kPlaces), 0), (std::vector<Rank>{0, 2}));
  EXPECT_THROW(ranks_beside(places_text(kPlaces), 3), Error);
  EXPECT_THROW(ranks_beside("job-0-0:1x,-,;", 1), Error);
}

/// Pods of a node share its cores.
TEST(Places, RanksOfOneNodeAreCounted) {
  const std::string text = places_text(
      std::vector<Place>{{"job-0-0", {1, 12}, "n1"}, {"job-1-0", {0}, "n2"}, {"job-2-0", {2}, "n1"}});
  EXPECT_EQ(text, "job-0-0@n1:1,12;job-1-0@n2:0;job-2-0@n1:2");
  EXPECT_EQ(ranks_on_node(text, 12), 3);
  EXPECT_EQ(ranks_on_node(text, 2), 3);
  EXPECT_EQ(ranks_on_node(text, 0), 1);
  EXPECT_EQ(ranks_on_node(places_text(kPlaces), 0), 2) << "a pod whose node isn't named";
  EXPECT_THROW(ranks_on_node(text, 4), Error);
  EXPECT_EQ(ranks_beside(text, 12), (std::vector<Rank>{1, 12}));
  check_place(text, 2, "job-2-0");
}

TEST(Places, AnotherHostAndAnUnknownRankAreNamed) {
  EXPECT_THAT(error_of(2, "job-0-0"),
              testing::HasSubstr("rank 2 runs on job-0-0 but was planned for job-1-0"));
  EXPECT_THAT(error_of(3, "job-0-0"), testing::HasSubstr("names no host for rank 3"));
}

}  // namespace
}  // namespace atl
