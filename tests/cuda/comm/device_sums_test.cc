// Sums over ranks on their GPUs, by the emulated NCCL, which adds terms in an order drawn from its seed.
#include <gmock/gmock.h>

#include <deque>

#include "comm/all_reduce.h"
#include "comm/on_gpu.h"

namespace atl::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

using DeviceSums = OnLinkedGpus;

constexpr Index kCount = 40;

/// Terms whose sum depends on their order in the last places.
Real term(Rank rank, Index i) {
  return Real(1) / Real(3 + 7 * rank + i);
}

/// This rank's terms on its GPU.
Matrix terms(OnGpu& gpu, Rank rank, Index count = kCount) {
  Matrix host(1, count), m(1, count, Device::kCuda);
  for (Index i = 0; i < count; ++i) host.data()[i] = term(rank, i);
  gpu.ctx.stream->upload(m.data(), host.data(), std::size_t(m.bytes()));
  return m;
}

Event begin_sum(Communicator& comm, OnGpu& gpu, Matrix& values) {
  return comm.begin_device_sum(Traffic::kGradient, {values.data(), std::size_t(values.cols())},
                               gpu.ctx.stream);
}

/// What each rank of `ranks` gets.
std::vector<std::vector<Real>> sums_of(int ranks, const LinkOptions& options = {}) {
  std::vector<std::vector<Real>> got(static_cast<std::size_t>(ranks));
  EXPECT_THAT(failures_of_ranks(linked_group(ranks, ranks, options), {},
                                [&](Communicator& comm) {
                                  EXPECT_TRUE(comm.sums_on_devices());
                                  OnGpu gpu(comm);
                                  Matrix values = terms(gpu, comm.rank());
                                  begin_sum(comm, gpu, values).wait();
                                  got[std::size_t(comm.rank())] =
                                      read(gpu.ctx, std::span<const Real>(values.data(), kCount));
                                }),
              Each(IsEmpty()));
  return got;
}

TEST_F(DeviceSums, AreTheSameBitsOnAllRanksAndDifferByRoundingFromOrderToOrder) {
  std::vector<std::vector<Real>> seen;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    emulated::set_seed(seed * 100);
    const auto got = sums_of(4);
    EXPECT_THAT(got, Each(got[0]));
    for (Index i = 0; i < kCount; ++i) {
      double sum = 0;
      for (Rank r = 0; r < 4; ++r) sum += double(term(r, i));
      EXPECT_NEAR(got[0][std::size_t(i)], sum, 1e-6 * sum);
    }
    seen.push_back(got[0]);
  }
  EXPECT_THAT(seen, testing::Contains(testing::Ne(seen[0]))) << "the order never mattered";
}

TEST_F(DeviceSums, GoInRoundsWhereTheyAreLong) {
  const std::int64_t before = emulated::nccl_sums();
  const auto got = sums_of(3, {.round_bytes = 7});
  EXPECT_THAT(got, Each(got[0]));
  EXPECT_EQ(emulated::nccl_sums() - before, kCount);
}

TEST_F(DeviceSums, KeepTheirPlaceBetweenMessages) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    emulated::set_seed(seed);
    EXPECT_THAT(failures_of_ranks(linked_group(3, 3), {},
                                  [](Communicator& comm) {
                                    OnGpu gpu(comm);
                                    Matrix first = terms(gpu, comm.rank()),
                                           second = terms(gpu, comm.rank(), 7);
                                    const Matrix mine = gpu.rows(Real(comm.rank()));
                                    Matrix theirs = gpu.rows(-1);
                                    const RowsTo send{(comm.rank() + 1) % 3, mine};
                                    const RowsFrom receive{(comm.rank() + 2) % 3, theirs};
                                    Event one = begin_sum(comm, gpu, first);
                                    Event rows = comm.exchange(Lane::kBulk, Traffic::kHalo, {&send, 1},
                                                               {&receive, 1}, gpu.ctx.stream);
                                    Event two = begin_sum(comm, gpu, second);
                                    two.wait(), rows.wait(), one.wait();
                                    EXPECT_EQ(gpu.last_of(theirs), Real((comm.rank() + 2) % 3));
                                    EXPECT_NEAR(read(gpu.ctx, second.data() + 6),
                                                double(term(0, 6) + term(1, 6) + term(2, 6)), 1e-6);
                                  }),
                Each(IsEmpty()));
  }
}

TEST_F(DeviceSums, AreCountedAsARingsBytes) {
  failures_of_ranks(linked_group(3, 3), {}, [](Communicator& comm) {
    OnGpu gpu(comm);
    Matrix values = terms(gpu, comm.rank());
    begin_sum(comm, gpu, values).wait();
    std::int64_t sent = comm.ledger().bytes(Link::kIntra, Traffic::kGradient) +
                        comm.ledger().bytes(Link::kInter, Traffic::kGradient);
    EXPECT_EQ(sent, ring_bytes(3, comm.rank(), kCount, sizeof(Real)));
    comm.all_reduce(Traffic::kStatistics, std::span(&sent, 1));
    EXPECT_EQ(sent, 2 * 2 * kCount * std::int64_t(sizeof(Real)));
  });
}

TEST_F(DeviceSums, NameARankThatNeverComes) {
  const auto failures =
      failures_of_ranks(linked_group(3, 3, {}, nullptr, {"a", "b", "c"}), {500ms}, [](Communicator& comm) {
        if (comm.rank() == 1) return std::this_thread::sleep_for(1500ms);
        OnGpu gpu(comm);
        Matrix values = terms(gpu, comm.rank());
        begin_sum(comm, gpu, values).wait();
      });
  EXPECT_EQ(failures[0],
            "gradient exchange: no message for 0.5 s from or to rank 1 on b; check that it still runs "
            "and that its link is up");
  EXPECT_THAT(failures[2], HasSubstr("rank 1 on b"));
}

TEST_F(DeviceSums, AreNoneWhereRanksAreNotLinked) {
  emulated::hide_nccl(true);
  failures_of_ranks(linked_group(2, 2), {}, [](Communicator& comm) { EXPECT_FALSE(comm.sums_on_devices()); });
  failures_of_ranks(linked_group(2, 1), {}, [](Communicator& comm) { EXPECT_FALSE(comm.sums_on_devices()); });
}

/// Begins something of a rank's; what it lies in is kept.
using Begin = std::function<Event(Communicator&, OnGpu&, std::deque<Matrix>& kept)>;

/// Rank 0 does `first` before `second`, rank 1 after it.
void do_swapped(const Begin& first, const Begin& second) {
  failures_of_ranks(linked_group(2, 2), {}, [&](Communicator& comm) {
    OnGpu gpu(comm);
    std::deque<Matrix> kept;
    Event one = (comm.rank() == 0 ? first : second)(comm, gpu, kept);
    (comm.rank() == 0 ? second : first)(comm, gpu, kept).wait();
    one.wait();
  });
}

TEST_F(DeviceSums, TellOrdersThatDiffer) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto sum_of = [](Index count) -> Begin {
    return [count](Communicator& comm, OnGpu& gpu, std::deque<Matrix>& kept) {
      return begin_sum(comm, gpu, kept.emplace_back(terms(gpu, comm.rank(), count)));
    };
  };
  const Begin rows = [](Communicator& comm, OnGpu& gpu, std::deque<Matrix>& kept) {
    const RowsTo send{1 - comm.rank(), kept.emplace_back(gpu.rows(1))};
    const RowsFrom receive{1 - comm.rank(), kept.emplace_back(gpu.rows(2))};
    return comm.exchange(Lane::kBulk, Traffic::kHalo, {&send, 1}, {&receive, 1}, gpu.ctx.stream);
  };
  EXPECT_DEATH(do_swapped(sum_of(4), sum_of(5)), "their transfers are in different orders");
  EXPECT_DEATH(do_swapped(sum_of(4), rows), "their transfers are in different orders");
}

}  // namespace
}  // namespace atl::test
