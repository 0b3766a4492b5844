// Peers that are late, silent or gone: nobody waits for ever, and the message names the peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "base/error.h"
#include "comm/forwarding_transport.h"
#include "comm/ranks.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

/// Faults to inject, shared with the test.
struct Faults {
  std::atomic<int> starts_until_silent{1 << 30};  // later groups are never started
  std::atomic<int> looks_until_throw{1 << 30};    // done() throws after so many looks
  std::atomic<bool> stuck{false};                 // done() doesn't come back
};

/// A transport that forwards to another one until a fault strikes.
class FaultyTransport : public ForwardingTransport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, Faults& faults)
      : ForwardingTransport(std::move(inner)), faults_(faults) {}
  const char* name() const override { return "faulty"; }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Group& group = groups_[std::size_t(lane)][slot];
    group.faults = &faults_;
    group.silent = faults_.starts_until_silent-- <= 0;
    group.peers.clear();
    for (const Message& m : sends) group.peers.push_back(m.peer);
    if (!group.silent) group.inner = &ForwardingTransport::start(lane, slot, sends, receives);
    return group;
  }

 private:
  struct Group : Pending {
    bool done() override {
      faults->stuck.wait(true);
      if (faults->looks_until_throw-- <= 0) throw Error("MPI_Testsome failed on rank 0 (a): link down");
      return !silent && inner->done();
    }
    std::vector<Rank> outstanding() const override { return silent ? peers : inner->outstanding(); }
    std::int64_t moved() const override { return silent ? 0 : inner->moved(); }
    Pending* inner = nullptr;
    Faults* faults = nullptr;
    bool silent = false;
    std::vector<Rank> peers;
  };
  Faults& faults_;
  Group groups_[kLanes][kSlots];
};

void sum_once(Communicator& comm) {
  std::vector<Real> values(4, 1);
  comm.all_reduce(Traffic::kGradient, values);
}

/// One row to and from every other rank, on the other lane.
void exchange_once(Communicator& comm) {
  Matrix mine(1, 4);
  std::fill_n(mine.data(), 4, Real(1));
  Matrix theirs(comm.size(), 4);
  std::vector<RowsTo> sends;
  std::vector<RowsFrom> receives;
  for (Rank r = 0; r < comm.size(); ++r) {
    if (r == comm.rank()) continue;
    sends.push_back({r, mine});
    receives.push_back({r, theirs.view().slice_rows(r, 1)});
  }
  comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives).wait();
}

TEST(Failure, a_rank_that_throws_ends_the_others_within_seconds_by_its_name) {
  const auto begin = std::chrono::steady_clock::now();
  const auto failures =
      failures_of_ranks(make_local_group(4, {"a", "a", "b", "b"}), {}, [](Communicator& comm) {
        sum_once(comm);
        if (comm.rank() == 2) throw Error("loss is not finite");
        exchange_once(comm);
      });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(failures[2], "loss is not finite");
  int named = 0;  // a rank may also notice that another one gave up because of rank 2
  for (const Rank r : {0, 1, 3}) {
    EXPECT_THAT(failures[std::size_t(r)], HasSubstr("has left the job"));
    named += failures[std::size_t(r)].find("rank 2 on b") != std::string::npos;
  }
  EXPECT_GE(named, 1);
}

TEST(Failure, a_rank_that_gives_up_has_its_memory_back) {
  const auto failures = failures_of_ranks(make_local_group(2), {500ms}, [](Communicator& comm) {
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(100ms);
      return exchange_once(comm);
    }
    Matrix rows(1, 4);
    rows.zero();
    const std::vector<RowsFrom> receives{{1, rows}};
    Event under_way = comm.exchange(Lane::kBulk, Traffic::kHalo, std::span<const RowsTo>(), receives);
    comm.abandon();
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(rows.at(0, 0), 0) << "nothing arrives any more";
    EXPECT_THROW(under_way.wait(), Error);
    sum_once(comm);
  });
  EXPECT_THAT(failures[0], HasSubstr("this rank has given up"));
  EXPECT_THAT(failures[1], HasSubstr("rank 0"));
}

TEST(Failure, time_out_names_every_missing_rank_with_its_host) {
  const Communicator::Options impatient{200ms};
  const auto failures =
      failures_of_ranks(make_local_group(4, {"a", "a", "b", "c"}), impatient, [](Communicator& comm) {
        if (comm.rank() >= 2) std::this_thread::sleep_for(700ms);
        sum_once(comm);
      });
  EXPECT_EQ(
      failures[0],
      "gradient exchange: no message for 0.2 s from or to rank 2 on b, rank 3 on c; check that it still "
      "runs and that its link is up");
}

TEST(Failure, a_peer_that_falls_silent_is_named_and_later_operations_fail_at_once) {
  Faults faults;
  faults.starts_until_silent = 1;
  auto transports = make_local_group(2, {"a", "b"});
  transports[0] = std::make_unique<FaultyTransport>(std::move(transports[0]), faults);
  const auto failures = failures_of_ranks(std::move(transports), {200ms}, [](Communicator& comm) {
    sum_once(comm);
    if (comm.rank() == 1) return;
    try {
      sum_once(comm);
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("rank 1 on b"));
    }
    const auto begin = std::chrono::steady_clock::now();
    exchange_once(comm);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 100ms);
  });
  EXPECT_THAT(failures[0], HasSubstr("no message for 0.2 s from or to rank 1 on b"));
  EXPECT_EQ(failures[1], "");
}

TEST(Failure, an_error_of_the_library_reaches_whoever_waits) {
  Faults faults;
  auto transports = make_local_group(2);
  transports[0] = std::make_unique<FaultyTransport>(std::move(transports[0]), faults);
  const auto failures = failures_of_ranks(std::move(transports), {}, [&](Communicator& comm) {
    sum_once(comm);
    if (comm.rank() == 0) faults.looks_until_throw = 0;
    sum_once(comm);
    sum_once(comm);
  });
  EXPECT_EQ(failures[0], "MPI_Testsome failed on rank 0 (a): link down");
  EXPECT_THAT(failures[1], HasSubstr("rank 0 on localhost has left the job"));
}

TEST(Failure, a_library_that_does_not_come_back_is_told_of) {
  Faults faults;
  auto transports = make_local_group(2);
  transports[0] = std::make_unique<FaultyTransport>(std::move(transports[0]), faults);
  std::vector<std::string> told;
  const auto free = [&](const std::string& words) {  // a program would end here
    told.push_back(words);
    faults.stuck = false;
    faults.stuck.notify_all();
  };
  Communicator::Options options{200ms};
  options.on_stuck = free;
  const auto failures = failures_of_ranks(std::move(transports), options, [&](Communicator& comm) {
    sum_once(comm);
    if (comm.rank() == 1) return;
    faults.stuck = true;
    sum_once(comm);
  });
  const char* const words =
      "gradient exchange: no answer from the faulty library within 0.2 s; ranks or links may be down";
  EXPECT_EQ(told, std::vector<std::string>{words});
  EXPECT_EQ(failures[0], words);
}

/// Bulk takes 20 steps of 40 ms, of which the first `steps` happen.
class DrippingTransport : public ForwardingTransport {
 public:
  DrippingTransport(std::unique_ptr<Transport> inner, int steps)
      : ForwardingTransport(std::move(inner)), steps_(steps) {}
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Pending& started = ForwardingTransport::start(lane, slot, sends, receives);
    if (lane == Lane::kSmall) return started;
    bulk_.begin = std::chrono::steady_clock::now(), bulk_.inner = &started, bulk_.steps = steps_;
    return bulk_;
  }

 private:
  struct Drip : Pending {
    bool done() override { return inner->done() && moved() >= 20; }
    std::vector<Rank> outstanding() const override { return {1}; }
    std::int64_t moved() const override {
      return std::min<std::int64_t>(steps, (std::chrono::steady_clock::now() - begin) / 40ms);
    }
    std::chrono::steady_clock::time_point begin;
    Pending* inner = nullptr;
    int steps = 0;
  };
  Drip bulk_;
  int steps_;
};

std::string failure_of_a_drip(int steps) {
  auto transports = make_local_group(2, {"a", "b"});
  transports[0] = std::make_unique<DrippingTransport>(std::move(transports[0]), steps);
  return failures_of_ranks(std::move(transports), {300ms}, exchange_once)[0];
}

TEST(Failure, a_transfer_that_goes_on_may_take_longer_than_the_time_out) {
  EXPECT_EQ(failure_of_a_drip(20), "");
}

TEST(Failure, a_transfer_that_stops_half_way_fails_after_the_time_out) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_of_a_drip(5), HasSubstr("halo exchange: no message for 0.3 s from or to rank 1 on b"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 500ms) << "counted from when it stopped";
}

TEST(Failure, waiting_is_patient_until_the_time_out) {
  const auto failures = failures_of_ranks(make_local_group(2), {5s}, [](Communicator& comm) {
    if (comm.rank() == 1) std::this_thread::sleep_for(300ms);
    sum_once(comm);
  });
  EXPECT_EQ(failures, (std::vector<std::string>{"", ""}));
}

TEST(Failure, a_communicator_that_waits_sleeps) {
  run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) std::this_thread::sleep_for(500ms);
    sum_once(comm);
    EXPECT_LT(comm.progress_cpu_seconds(), 0.15) << "half a second of waiting";
  });
}

class ClosedDoor : public FaultyTransport {
 public:
  using FaultyTransport::FaultyTransport;
  void open() override { throw Error("MPI_Init_thread failed"); }
};

TEST(Failure, a_transport_that_does_not_open_is_an_error_of_the_constructor) {
  Faults faults;
  auto transports = make_local_group(1);
  transports[0] = std::make_unique<ClosedDoor>(std::move(transports[0]), faults);
  EXPECT_EQ(failures_of_ranks(std::move(transports), {}, [](Communicator&) {})[0], "MPI_Init_thread failed");
}

}  // namespace
}  // namespace atl
