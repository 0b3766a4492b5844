// The lane of a thread that fetches ahead: it waits for no other lane's sums, keeps its own order, and counts
// and fails like the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "comm/forwarding_transport.h"
#include "comm/ranks.h"

namespace atl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// One value to the next rank, one from the last.
void pass_on(Communicator& comm, Lane lane, Traffic purpose, Real value, Real expected) {
  Matrix out(1, 1), in(1, 1);
  out.at(0, 0) = value;
  const RowsTo to{(comm.rank() + 1) % comm.size(), out};
  const RowsFrom from{(comm.rank() + comm.size() - 1) % comm.size(), in};
  comm.exchange(lane, purpose, std::span(&to, 1), std::span(&from, 1)).wait();
  EXPECT_EQ(in.at(0, 0), expected);
}

/// A thread beside the compute thread, and what it threw.
class Beside {
 public:
  explicit Beside(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          try {
            work();
          } catch (const std::exception& e) {
            failure = e.what();
          }
        }) {}
  ~Beside() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::string failure;

 private:
  std::thread thread_;
};

TEST(PrefetchLane, GoesOnWhileASumIsWaitedFor) {
  std::atomic<int> fetched{0};
  run_ranks(3, [&](Communicator& comm) {
    Beside ahead([&] {
      const Rank last = (comm.rank() + 2) % 3;
      for (int i = 0; i < 5; ++i)
        pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, Real(comm.rank() + i), Real(last + i));
      ++fetched;
    });
    // Rank 0 begins its side of the sum when all have fetched, which the others stand waiting for.
    while (comm.rank() == 0 && fetched < 3) std::this_thread::sleep_for(1ms);
    std::vector<double> ones(40000, 1);
    comm.all_reduce(Traffic::kGradient, std::span(ones));
    EXPECT_EQ(ones[0], 3);
  });
  EXPECT_EQ(fetched, 3);
}

TEST(PrefetchLane, IsInAnOrderOfItsOwnWhateverTheOthersDo) {
  run_ranks(4, [](Communicator& comm) {
    const auto traffic = [&comm](Lane lane, int count, std::uint64_t seed) {
      const Draws draws(seed, Purpose::kSampling);
      for (int i = 0; i < count; ++i) {
        const Rank last = (comm.rank() + 3) % 4;
        pass_on(comm, lane, Traffic::kFeatures, Real(1000 * comm.rank() + i), Real(1000 * last + i));
        if (draws.uniform_at(std::uint64_t(comm.rank()), std::uint64_t(i)) < 0.1) std::this_thread::yield();
      }
    };
    Beside ahead([&] { traffic(Lane::kPrefetch, 300, 1); });
    for (int round = 0; round < 30; ++round) {
      traffic(Lane::kBulk, 5, 2);
      std::int64_t one = 1;
      comm.all_reduce(Traffic::kGradient, std::span(&one, 1));
      EXPECT_EQ(one, 4);
      traffic(Lane::kSmall, 2, 3);
    }
  });
}

/// Groups of the lane are done when four have been started.
class TogetherTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Pending& started = ForwardingTransport::start(lane, slot, sends, receives);
    if (lane != Lane::kPrefetch) return started;
    ++started_;
    Group& group = groups_[std::size_t(slot)];
    group.inner = &started, group.started = &started_;
    return group;
  }

 private:
  struct Group final : Pending {
    bool done() override { return *started >= 4 && inner->done(); }
    std::vector<Rank> outstanding() const override { return inner->outstanding(); }
    std::int64_t moved() const override { return inner->moved(); }
    Pending* inner = nullptr;
    const int* started = nullptr;
  };
  int started_ = 0;
  std::array<Group, kSlots> groups_;
};

/// Several operations of the lane may be under way; each receives what was sent in its turn.
TEST(PrefetchLane, HasSeveralExchangesUnderWay) {
  std::vector<std::unique_ptr<Transport>> transports;
  for (auto& transport : make_local_group(2))
    transports.push_back(std::make_unique<TogetherTransport>(std::move(transport)));
  const auto failures = failures_of_ranks(std::move(transports), {.timeout = 2s}, [](Communicator& comm) {
    constexpr int kExchanges = 20;
    std::vector<Matrix> out, in;
    std::vector<Event> events;
    for (int i = 0; i < kExchanges; ++i) {
      out.emplace_back(1 + i % 3, 5), in.emplace_back(1 + i % 3, 5);
      for (Index k = 0; k < out.back().rows() * 5; ++k) out.back().data()[k] = Real(100 * i + comm.rank());
      const RowsTo to{1 - comm.rank(), out.back()};
      const RowsFrom from{1 - comm.rank(), in.back()};
      events.push_back(comm.exchange(Lane::kPrefetch, Traffic::kIds, std::span(&to, 1), std::span(&from, 1)));
    }
    for (int i = 0; i < kExchanges; ++i) {
      events[std::size_t(i)].wait();
      EXPECT_EQ(in[std::size_t(i)].at(0, 4), Real(100 * i + 1 - comm.rank()));
    }
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(PrefetchLane, BytesAreCountedByPurposeAndNoTimeOfTheComputeThread) {
  run_ranks(2, [](Communicator& comm) {
    Beside beside([&] {
      if (comm.rank() == 1) std::this_thread::sleep_for(50ms);
      pass_on(comm, Lane::kPrefetch, Traffic::kStructure, 1, 1);
      pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1);
      pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1);
    });
    beside.join();
    const Ledger ledger = comm.ledger();
    EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kStructure), Index(sizeof(Real)));
    EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kFeatures), 2 * Index(sizeof(Real)));
    EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kIds), 0);
    EXPECT_EQ(ledger.exposed_seconds(Traffic::kStructure), 0);
  });
  EXPECT_STREQ(traffic_name(Traffic::kStructure), "structure");
  EXPECT_STREQ(traffic_name(Traffic::kIds), "ids");
  EXPECT_STREQ(traffic_name(Traffic::kFeatures), "features");
}

TEST(PrefetchLane, AMissingRankIsNamedToBothThreadsThatWait) {
  std::vector<std::string> ahead(2);
  const auto failures =
      failures_of_ranks(make_local_group(3, {"a", "b", "c"}), {200ms}, [&](Communicator& comm) {
        if (comm.rank() == 2) {
          std::this_thread::sleep_for(700ms);
          return;
        }
        {
          Beside beside([&] { pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1); });
          std::int64_t one = 1;
          EXPECT_THROW(comm.all_reduce(Traffic::kGradient, std::span(&one, 1)), Error);
          beside.join();
          ahead[std::size_t(comm.rank())] = beside.failure;
        }
        fail("{}", ahead[std::size_t(comm.rank())]);
      });
  for (const std::size_t rank : {0, 1}) EXPECT_THAT(failures[rank], HasSubstr("rank 2 on c"));
}

TEST(PrefetchLane, WhatItsThreadReceivesEndsNoWaitOfTheComputeThread) {
  const auto failures =
      failures_of_ranks(make_local_group(3, {"a", "b", "c"}), {200ms}, [](Communicator& comm) {
        Beside beside([&] {
          std::this_thread::sleep_for(20ms);
          pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1);
        });
        if (comm.rank() == 2) return std::this_thread::sleep_for(1s);
        std::int64_t one = 1;
        comm.all_reduce(Traffic::kGradient, std::span(&one, 1));
      });
  for (const std::size_t rank : {0, 1})
    EXPECT_THAT(failures[rank], HasSubstr("gradient exchange: no message for 0.2 s from or to rank 2 on c"));
}

/// Where the compute thread waits for nobody: the time-out is the lane's own.
TEST(PrefetchLane, WaitsNoLongerThanTheTimeOut) {
  const auto failures = failures_of_ranks(make_local_group(2, {"a", "b"}), {200ms}, [](Communicator& comm) {
    if (comm.rank() == 1) return std::this_thread::sleep_for(1s);
    std::string failure;
    {
      Beside beside([&] { pass_on(comm, Lane::kPrefetch, Traffic::kStructure, 1, 1); });
      beside.join();
      failure = beside.failure;
    }
    fail("{}", failure);
  });
  EXPECT_THAT(failures[0], HasSubstr("structure exchange: no message for 0.2 s from or to rank 1 on b"));
}

TEST(PrefetchLane, AbandoningEndsItsWaits) {
  const auto failures = failures_of_ranks(make_local_group(2), {10s}, [](Communicator& comm) {
    if (comm.rank() == 1) return std::this_thread::sleep_for(500ms);
    Beside beside([&] { pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1); });
    std::this_thread::sleep_for(50ms);
    comm.abandon();
    beside.join();
    EXPECT_THAT(beside.failure, HasSubstr("this rank has given up"));
  });
  EXPECT_EQ(failures[0], "");
}

TEST(PrefetchLane, IsTracedInAStreamOfItsOwn) {
  Trace trace;
  trace.begin_epoch(3);
  Communicator::Options options;
  auto transports = make_local_group(2);
  std::thread peer([&] {
    Communicator comm(std::move(transports[1]));
    pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1);
  });
  {
    options.trace = &trace;
    Communicator comm(std::move(transports[0]), options);
    trace.enter(Work::kForward, 1);
    {
      const Beside ahead([&] { pass_on(comm, Lane::kPrefetch, Traffic::kFeatures, 1, 1); });
    }
    trace.leave();
  }
  peer.join();
  const auto spans = trace.spans(Stream::kPrefetchLane, 3);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_STREQ(work_name(spans[0].label.work), "prefetch");
  EXPECT_EQ(spans[0].purpose, Traffic::kFeatures);
  EXPECT_EQ(trace.spans(Stream::kCompute, 3).size(), 1U) << "the compute thread didn't wait";
}

}  // namespace
}  // namespace atl
