// Parts that talk most share a server: compared with all divisions of small jobs, and on graphs whose answer
// is known.
#include "plan/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "partition/local_graph.h"

namespace atl {
namespace {

Layout layout_of(int servers, int ranks_each) {
  Layout layout;
  layout.ranks_are_alike = true;
  for (int s = 0, rank = 0; s < servers; ++s) {
    layout.groups.emplace_back();
    for (int r = 0; r < ranks_each; ++r) layout.groups.back().push_back(rank++);
  }
  return layout;
}

/// Bytes that leave servers where rank r trains parts[r].
double between_servers(const Layout& layout, const std::vector<PairBytes>& flows,
                       const std::vector<int>& parts) {
  std::vector<int> server(parts.size());
  for (std::size_t s = 0; s < layout.groups.size(); ++s)
    for (const Rank rank : layout.groups[s]) server[std::size_t(parts[std::size_t(rank)])] = int(s);
  double bytes = 0;
  for (const PairBytes& f : flows)
    if (server[std::size_t(f.from)] != server[std::size_t(f.to)]) bytes += f.bytes;
  return bytes;
}

std::vector<int> plain(int ranks) {
  std::vector<int> parts(static_cast<std::size_t>(ranks));
  std::iota(parts.begin(), parts.end(), 0);
  return parts;
}

double least_of_all(const Layout& layout, const std::vector<PairBytes>& flows, int ranks) {
  std::vector<int> parts = plain(ranks);
  double least = between_servers(layout, flows, parts);
  while (std::ranges::next_permutation(parts).found)
    least = std::min(least, between_servers(layout, flows, parts));
  return least;
}

/// Some pairs that talk much and some little, as a cut's do.
std::vector<PairBytes> random_flows(int ranks, std::uint64_t seed) {
  const Draws draws(seed, Purpose::kGenerator);
  std::vector<PairBytes> flows;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b) {
      if (a == b || draws.uniform_at(std::uint64_t(a), std::uint64_t(b)) > 0.5) continue;
      const double size = draws.uniform_at(std::uint64_t(a) + 100, std::uint64_t(b));
      flows.push_back({a, b, 1000 * size * size * size});
    }
  return flows;
}

TEST(PartOrder, IsNearTheBestAndNeverWorseThanPlainOrder) {
  int best = 0, cases = 0;
  double worst = 1;
  for (const auto& [servers, each] : {std::pair{2, 4}, {4, 2}, {2, 3}, {3, 2}}) {
    const Layout layout = layout_of(servers, each);
    const int ranks = servers * each;
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
      const auto flows = random_flows(ranks, seed);
      const auto parts = part_order(layout, flows);
      ASSERT_TRUE(is_permutation(parts));
      const double found = between_servers(layout, flows, parts), least = least_of_all(layout, flows, ranks);
      EXPECT_LE(found, between_servers(layout, flows, plain(ranks)) * (1 + 1e-9));
      worst = std::max(worst, found / least);
      best += found <= least * (1 + 1e-9);
      ++cases;
    }
  }
  EXPECT_GE(best, cases * 8 / 10) << "of " << cases << ", the worst " << worst;
  EXPECT_LE(worst, 1.15);
}

/// Parts 0, 4, 8 … talk to each other alone, and so on: every plain neighbour is a stranger.
TEST(PartOrder, FindsGroupsThatAreThere) {
  const int servers = 16, each = 8, ranks = servers * each;
  const Layout layout = layout_of(servers, each);
  std::vector<PairBytes> flows;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b)
        flows.push_back({a, b, a % servers == b % servers ? 100. : 1.});  // gradients go from each to each
  const auto parts = part_order(layout, flows);
  const double between = double(ranks) * (ranks - each);
  EXPECT_EQ(between_servers(layout, flows, parts), between);
}

TEST(PartOrder, LeavesWhatIsGoodAndWhatIsNotItsToChoose) {
  const auto flows = random_flows(8, 3);
  EXPECT_EQ(part_order(layout_of(8, 1), flows), plain(8)) << "servers are moved, not parts";
  EXPECT_EQ(part_order(layout_of(1, 8), flows), plain(8));
  Layout unlike = layout_of(2, 4);
  unlike.ranks_are_alike = false;
  EXPECT_EQ(part_order(unlike, flows), plain(8));
  std::vector<PairBytes> even;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b)
      if (a != b) even.push_back({a, b, 5});
  EXPECT_EQ(part_order(layout_of(2, 4), even), plain(8)) << "no order is better";
}

TEST(PartOrder, MovesOnlyPartsThatChangeTheirServer) {
  // Parts 0 and 2 belong together, and 1 and 3: one exchange is enough.
  const std::vector<PairBytes> flows{{0, 2, 10}, {1, 3, 10}, {0, 1, 1}};
  const auto parts = part_order(layout_of(2, 2), flows);
  EXPECT_EQ(between_servers(layout_of(2, 2), flows, parts), 1);
  int stay = 0;
  for (int rank = 0; rank < 4; ++rank) stay += parts[std::size_t(rank)] == rank;
  EXPECT_EQ(stay, 2);
}

}  // namespace
}  // namespace atl
