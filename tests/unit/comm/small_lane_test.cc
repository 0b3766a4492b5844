// Concurrent sums: none waits for an earlier one, and each is right on every rank, whichever ends first.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "base/random.h"
#include "comm/all_reduce.h"
#include "comm/forwarding_transport.h"
#include "comm/ranks.h"

namespace atl {
namespace {

using namespace std::chrono_literals;

/// Groups of the small lane are done when `may` says so of the number of groups started so far, asked at each
/// look.
class HeldTransport : public ForwardingTransport {
 public:
  using May = std::function<bool(int group, int started)>;
  HeldTransport(std::unique_ptr<Transport> inner, May may)
      : ForwardingTransport(std::move(inner)), may_(std::move(may)) {}
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Pending& started = ForwardingTransport::start(lane, slot, sends, receives);
    if (lane != Lane::kSmall) return started;
    Group& group = groups_[std::size_t(slot)];
    group.inner = &started, group.all = this, group.number = started_++;
    return group;
  }

 private:
  struct Group : Pending {
    bool done() override { return all->may_(number, all->started_) && inner->done(); }
    std::vector<Rank> outstanding() const override { return inner->outstanding(); }
    std::int64_t moved() const override { return inner->moved(); }
    Pending* inner = nullptr;
    HeldTransport* all = nullptr;
    int number = 0;
  };
  May may_;
  int started_ = 0;
  std::array<Group, kSlots> groups_;
};

std::vector<std::unique_ptr<Transport>> held(int ranks, const std::function<HeldTransport::May(Rank)>& may) {
  std::vector<std::unique_ptr<Transport>> all;
  for (auto& transport : make_local_group(ranks)) {
    const Rank rank = Rank(all.size());
    all.push_back(std::make_unique<HeldTransport>(std::move(transport), may(rank)));
  }
  return all;
}

/// One that was begun: value i of sum k is (rank + 1)·(k + 1) + i on each rank.
struct Sum {
  std::vector<Real> values;
  std::vector<std::byte> terms;
  Event arrival;
};

/// The group outlives the sums.
std::vector<Sum> begin_sums(Communicator& comm, const RankGroup& everyone, const std::vector<Index>& counts) {
  std::vector<Sum> sums(counts.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k].values.resize(std::size_t(counts[k]));
    for (std::size_t i = 0; i < sums[k].values.size(); ++i)
      sums[k].values[i] = Real(comm.rank() + 1) * Real(k + 1) + Real(i);
    sums[k].terms.resize(
        std::size_t(all_reduce_memory(comm.size(), comm.rank(), counts[k], Index(sizeof(Real)))));
    sums[k].arrival =
        comm.begin_all_reduce(Traffic::kGradient, everyone, std::span(sums[k].values), sums[k].terms);
  }
  return sums;
}

void wait_for_all(Communicator& comm, std::vector<Sum>& sums) {
  const int ranks = comm.size();
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k].arrival.wait();
    const Real ranks_sum = Real(ranks * (ranks + 1) / 2) * Real(k + 1);
    for (std::size_t i = 0; i < sums[k].values.size(); ++i)
      ASSERT_EQ(sums[k].values[i], ranks_sum + Real(ranks) * Real(i)) << "sum " << k << ", value " << i;
  }
}

TEST(SmallLane, FourSumsAreUnderWayTogether) {
  const auto when_four_are = [](Rank) { return [](int, int started) { return started >= 4; }; };
  const auto failures = failures_of_ranks(held(2, when_four_are), {.timeout = 5s}, [](Communicator& comm) {
    const RankGroup everyone(comm, {});
    auto sums = begin_sums(comm, everyone, {3, 4, 5, 6});
    wait_for_all(comm, sums);
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(SmallLane, SumsOfOneAndTwoRoundsAreRightWhicheverIsDoneFirst) {
  const auto after_some_looks = [](Rank rank) -> HeldTransport::May {
    return [draws = Draws(7, Purpose::kSampling), rank, looks = std::uint64_t(0)](int group, int) mutable {
      return draws.uniform_at(std::uint64_t(group), (++looks << 8) + std::uint64_t(rank)) < 0.02;
    };
  };
  const auto failures =
      failures_of_ranks(held(4, after_some_looks), {.timeout = 30s}, [](Communicator& comm) {
        std::vector<Index> counts;
        for (Index k = 0; k < 40; ++k)
          counts.push_back(k % 3 == 0 ? 20000 + k : 1 + k);  // 32 KiB go in one round
        const RankGroup everyone(comm, {});
        auto sums = begin_sums(comm, everyone, counts);
        wait_for_all(comm, sums);
      });
  EXPECT_EQ(failures, std::vector<std::string>(4));
}

/// As where some parameters are held by some ranks alone.
TEST(SmallLane, RanksMayExchangeBetweenSumsWithoutTheOthers) {
  const auto failures = failures_of_ranks(make_local_group(3), {.timeout = 5s}, [](Communicator& comm) {
    for (int round = 0; round < 6; ++round) {
      const RankGroup everyone(comm, {});
      auto sums = begin_sums(comm, everyone, {3, 20000, 5});
      if (comm.rank() < 2) {
        Matrix mine(1, 1), theirs(1, 1);
        mine.at(0, 0) = Real(comm.rank());
        const RowsTo to[] = {{1 - comm.rank(), mine.view()}};
        const RowsFrom from[] = {{1 - comm.rank(), theirs.view()}};
        comm.exchange(Lane::kSmall, Traffic::kGradient, to, from).wait();
        EXPECT_EQ(theirs.at(0, 0), Real(1 - comm.rank()));
      }
      wait_for_all(comm, sums);
    }
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

}  // namespace
}  // namespace atl
