// Sums over some of the ranks: exact, in rank order, and at the same time as sums of other groups and of all
// ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "comm/all_reduce.h"
#include "comm/ranks.h"

namespace atl {
namespace {

/// Thirds don't add up to the same bits in another order.
Real value_of(Rank rank, std::size_t i) {
  return Real(rank + 1) / Real(3) + Real(i % 7) / Real(7 * (rank + 1));
}

struct GroupSum {
  GroupSum(Communicator& comm, const std::vector<Rank>& members_, std::size_t count)
      : members(members_), group(comm, members_), values(count) {
    for (std::size_t i = 0; i < count; ++i) values[i] = value_of(comm.rank(), i);
    terms.resize(
        std::size_t(all_reduce_memory(group.size(), group.place(), Index(count), Index(sizeof(Real)))));
  }
  void begin(Communicator& comm) {
    arrival = comm.begin_all_reduce(Traffic::kGradient, group, values, terms);
  }
  void expect_whole() {
    arrival.wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Real sum = value_of(members.front(), i);
      for (std::size_t m = 1; m < members.size(); ++m) sum += value_of(members[m], i);
      ASSERT_EQ(values[i], sum) << i;
    }
  }
  std::vector<Rank> members;
  RankGroup group;
  std::vector<Real> values;
  std::vector<std::byte> terms;
  Event arrival;
};

/// Groups of three and two, large sums and small ones, of which a rank is in none, one or several.
TEST(RankGroup, SumsGoOnBesideThoseOfOtherGroupsAndOfAll) {
  const std::vector<std::vector<Rank>> groups{{0, 2, 4}, {1, 2}, {0, 1, 3}, {4}};
  run_ranks(6, [&](Communicator& comm) {
    for (const std::size_t count : {5U, 30'000U}) {
      std::vector<std::unique_ptr<GroupSum>> mine;
      for (const auto& members : groups)
        if (std::ranges::find(members, comm.rank()) != members.end())
          mine.push_back(std::make_unique<GroupSum>(comm, members, count));
      for (auto& each : mine) each->begin(comm);
      std::int64_t all = comm.rank();
      comm.all_reduce(Traffic::kStatistics, std::span(&all, 1));
      EXPECT_EQ(all, 15);
      for (auto& each : mine) each->expect_whole();
    }
  });
}

TEST(RankGroup, SendsToItsMembersAlone) {
  run_ranks(4, [](Communicator& comm) {
    if (comm.rank() == 0) return;
    GroupSum sum(comm, {1, 2, 3}, 40'000);
    sum.begin(comm);
    sum.expect_whole();
    EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kGradient),
              all_reduce_bytes(3, comm.rank() - 1, 40'000, Index(sizeof(Real))));
  });
}

TEST(RankGroup, KnowsItsOwnPlace) {
  run_ranks(2, [](Communicator& comm) {
    const RankGroup both(comm, {0, 1}), everyone(comm, {});
    EXPECT_EQ(both.size(), 2);
    EXPECT_EQ(both.place(), comm.rank());
    EXPECT_FALSE(both.everyone());
    EXPECT_TRUE(everyone.everyone());
    EXPECT_EQ(everyone.size(), 2);
  });
}

}  // namespace
}  // namespace atl
