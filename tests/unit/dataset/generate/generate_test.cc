// Properties of a generated graph that users rely on: its size, degrees, homophily and splits, and that each
// seed gives one graph.
#include "dataset/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dataset/generate/shuffle.h"

namespace atl {
namespace {

CommunitySpec small() {
  CommunitySpec spec;
  spec.vertices = 6000;
  spec.average_degree = 20;
  spec.features = 32;
  spec.classes = 7;
  spec.community_size = 200;
  return spec;
}

Csr arcs_of(const CommunitySpec& spec, int threads = 2) {
  ThreadPool pool(threads);
  return CommunityGraph(spec).arcs(pool);
}

std::vector<Index> degrees(const Csr& csr) {
  std::vector<Index> out;
  for (Index v = 0; v < csr.rows; ++v) out.push_back(csr.view().degree(v));
  std::sort(out.begin(), out.end());
  return out;
}

double share_of_arcs(const Csr& csr, FunctionRef<bool(VertexId, VertexId)> holds) {
  Index count = 0;
  for (VertexId v = 0; v < csr.rows; ++v) {
    for (VertexId u : csr.view().row(v)) count += holds(v, u);
  }
  return double(count) / double(csr.arcs());
}

TEST(Generate, HasTheArcsAskedForInBothDirectionsAndNoneTwice) {
  const Csr csr = arcs_of(small());
  EXPECT_EQ(csr.arcs(), 6000 * 20);
  EXPECT_EQ(csr.offsets.back(), csr.arcs());
  const Transpose reverse = transpose(csr.view(), false);
  EXPECT_EQ(reverse.csr.offsets, csr.offsets);
  EXPECT_EQ(reverse.csr.columns, csr.columns);
  for (VertexId v = 0; v < csr.rows; ++v) {
    const auto row = csr.view().row(v);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end(), std::less_equal<>())) << "row " << v;
    EXPECT_FALSE(std::binary_search(row.begin(), row.end(), v)) << "self-loop at " << v;
  }
}

TEST(Generate, SameSeedGivesTheSameGraphOnAnyNumberOfThreads) {
  const Csr one = arcs_of(small(), 1);
  for (int threads : {2, 3, 8}) {
    const Csr many = arcs_of(small(), threads);
    EXPECT_EQ(many.offsets, one.offsets);
    EXPECT_EQ(many.columns, one.columns);
  }
  CommunitySpec other = small();
  other.seed = 2;
  EXPECT_NE(arcs_of(other).columns, one.columns);
}

// Recorded once: a change of these numbers changes every generated data set and needs a note in
// docs/datasets.md.
TEST(Generate, BytesOfASeedStayWhatTheyWere) {
  const Csr csr = arcs_of(small());
  std::uint64_t hash = 0;
  for (VertexId v : csr.columns) hash = mix64(hash ^ std::uint64_t(v));
  const CommunityGraph graph(small());
  std::vector<float> row(32);
  graph.features(17, row);
  for (float x : row) hash = mix64(hash ^ std::uint64_t(std::llround(double(x) * 1e4)));
  for (VertexId v = 0; v < 6000; ++v)
    hash = mix64(hash ^ std::uint64_t(graph.label(v)) ^ (std::uint64_t(graph.split(v)) << 8));
  EXPECT_EQ(hash, 15306383823946535164u);
}

TEST(Generate, DegreesFollowTheTailAskedFor) {
  CommunitySpec spec = small();
  spec.vertices = 30000;
  spec.community_size = 1000;
  spec.largest_degree = 800;
  for (double exponent : {2.2, 3.0}) {
    spec.tail_exponent = exponent;
    const auto sorted = degrees(arcs_of(spec));
    // Between the 80th and the 99.5th percentile the complementary distribution is a line in log-log.
    const auto n = double(sorted.size());
    const double low = double(sorted[std::size_t(n * 0.8)]), high = double(sorted[std::size_t(n * 0.98)]);
    EXPECT_NEAR(1 + std::log(10.0) / std::log(high / low), exponent, 0.35);
    EXPECT_NEAR(double(sorted.back()), 800, 200);
    EXPECT_LT(sorted[sorted.size() / 2], 20);
  }
}

TEST(Generate, HomophilyIsTheShareOfArcsThatJoinEqualLabels) {
  for (double homophily : {0.25, 0.5, 0.7, 0.9}) {
    CommunitySpec spec = small();
    spec.homophily = homophily;
    const CommunityGraph graph(spec);
    ThreadPool pool(2);
    const double measured = share_of_arcs(
        graph.arcs(pool), [&](VertexId v, VertexId u) { return graph.label(v) == graph.label(u); });
    EXPECT_NEAR(measured, homophily, 0.03);
  }
}

TEST(Generate, IdsSayNothingAboutCommunities) {
  const CommunityGraph graph(small());
  ThreadPool pool(2);
  const Csr csr = graph.arcs(pool);
  // Cut by id in two halves: a random cut severs half of the arcs; the communities would sever a few per
  // cent.
  EXPECT_NEAR(share_of_arcs(csr, [](VertexId v, VertexId u) { return (v < 3000) != (u < 3000); }), 0.5, 0.02);
  EXPECT_GT(
      share_of_arcs(csr, [&](VertexId v, VertexId u) { return graph.community(v) == graph.community(u); }),
      0.6);
}

TEST(Generate, ShuffleIsAPermutationWithItsInverse) {
  for (Index n : {1, 2, 3, 16, 17, 1000, 65537}) {
    const Shuffle shuffle(n, Draws(5, Purpose::kGenerator));
    std::vector<VertexId> seen;
    for (VertexId v = 0; v < n; ++v) {
      seen.push_back(shuffle(v));
      ASSERT_EQ(shuffle.inverse(seen.back()), v);
    }
    std::sort(seen.begin(), seen.end());
    std::vector<VertexId> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all) << n;
  }
}

TEST(Generate, FeaturesAreTheClassMeanPlusUnitNoise) {
  CommunitySpec spec = small();
  spec.features = 64;
  spec.signal = 4;
  const CommunityGraph graph(spec);
  std::vector<double> mean(7 * 64, 0.0), count(7, 0.0);
  std::vector<float> row(64);
  double squares = 0;
  for (VertexId v = 0; v < 6000; ++v) {
    graph.features(v, row);
    const auto label = std::size_t(graph.label(v));
    count[label] += 1;
    for (std::size_t f = 0; f < 64; ++f) {
      mean[label * 64 + f] += double(row[f]);
      squares += double(row[f]) * double(row[f]);
    }
  }
  EXPECT_NEAR(squares / (6000 * 64), 1 + 4.0 * 4.0 / 64, 0.02);
  for (std::size_t label = 0; label < 7; ++label) {
    for (std::size_t f = 0; f < 64; ++f) {
      EXPECT_NEAR(std::abs(mean[label * 64 + f] / count[label]), 4.0 / 8, 5 / std::sqrt(count[label]));
    }
  }
}

TEST(Generate, EveryClassOccursAndLargerOnesMore) {
  const CommunityGraph graph(small());
  std::vector<int> count(7, 0);
  for (VertexId v = 0; v < 6000; ++v) ++count[std::size_t(graph.label(v))];
  EXPECT_GT(count[6], 150);
  EXPECT_GT(count[0], count[6]);
}

TEST(Generate, SplitsHaveTheirShares) {
  CommunitySpec spec = small();
  spec.train = 0.08, spec.validation = 0.02;
  const CommunityGraph graph(spec);
  std::vector<int> count(4, 0);
  for (VertexId v = 0; v < 6000; ++v) ++count[std::size_t(graph.split(v))];
  EXPECT_EQ(count[0], 0);
  EXPECT_NEAR(count[1] / 6000.0, 0.08, 0.015);
  EXPECT_NEAR(count[2] / 6000.0, 0.02, 0.01);
}

TEST(Generate, MultiLabelVerticesHaveSeveralLabelsThatOccurTogether) {
  CommunitySpec spec = small();
  spec.multi_label = true;
  spec.classes = 20;
  const CommunityGraph graph(spec);
  std::vector<std::uint8_t> row(20);
  std::vector<double> single(20, 0.0), pair(20 * 20, 0.0);
  double total = 0;
  for (VertexId v = 0; v < 6000; ++v) {
    graph.targets(v, row);
    for (std::size_t a = 0; a < 20; ++a) {
      if (!row[a]) continue;
      total += 1, single[a] += 1;
      for (std::size_t b = 0; b < 20; ++b) pair[a * 20 + b] += row[b];
    }
  }
  EXPECT_GT(total / 6000, 2);
  EXPECT_LT(total / 6000, 12);
  double lift = 0;
  for (std::size_t a = 0; a < 20; ++a) {
    EXPECT_GT(single[a], 0) << "label " << a;
    for (std::size_t b = 0; b < a; ++b)
      lift = std::max(lift, pair[a * 20 + b] * 6000 / single[a] / single[b]);
  }
  EXPECT_GT(lift, 1.5);
}

TEST(Generate, RefusesWhatCannotBeAndSaysWhatCan) {
  auto message = [](auto change) -> std::string {
    CommunitySpec spec = small();
    change(spec);
    try {
      CommunityGraph graph(spec);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([](auto& s) { s.vertices = 3; }), HasSubstr("vertices 3: must be between 16"));
  EXPECT_THAT(message([](auto& s) { s.average_degree = 5000; }), HasSubstr("averageDegree 5000"));
  EXPECT_THAT(message([](auto& s) { s.classes = 1; }), HasSubstr("classes 1"));
  EXPECT_THAT(message([](auto& s) { s.homophily = 1.5; }), HasSubstr("homophily 1.5"));
  EXPECT_THAT(message([](auto& s) { s.homophily = 0.01; }), HasSubstr("homophily 0.01: with 7 classes"));
  EXPECT_THAT(message([](auto& s) { s.homophily = 0.95, s.far_share = 0.5; }), HasSubstr("fewer far arcs"));
  EXPECT_THAT(message([](auto& s) { s.train = 0.9, s.validation = 0.2; }), HasSubstr("train + validation"));
  EXPECT_EQ(message([](auto&) {}), "");
}

TEST(Generate, SmallestAndDensestGraphsWork) {
  CommunitySpec spec = small();
  spec.vertices = 16, spec.average_degree = 4, spec.classes = 2, spec.community_size = 0;
  EXPECT_GT(arcs_of(spec).arcs(), 40);
  spec.vertices = 200, spec.average_degree = 50;
  const Csr dense = arcs_of(spec);
  EXPECT_GT(dense.arcs(), 9000);
  EXPECT_LE(dense.arcs(), 10000);
}

}  // namespace
}  // namespace atl
