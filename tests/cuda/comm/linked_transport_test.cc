// Rows from GPU to GPU over the emulated NCCL; also GPUs without links, and a rank that is lost.
#include "comm/linked_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/forwarding_transport.h"
#include "comm/on_gpu.h"

namespace atl::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

using LinkedTransport = OnLinkedGpus;

/// Everybody's rows to everybody, twice, the second group started before the first has come; and some of the
/// host's memory beside.
void exchange_rows(Communicator& comm) {
  OnGpu gpu(comm);
  const Matrix mine[2] = {gpu.rows(Real(comm.rank())), gpu.rows(Real(10 + comm.rank()))};
  std::vector<Matrix> theirs;
  Matrix host_mine(1, 2), host_theirs(comm.size(), 2);
  std::fill_n(host_mine.data(), 2, Real(100 + comm.rank()));
  std::vector<Event> events;
  for (int group = 0; group < 2; ++group) {
    std::vector<RowsTo> sends;
    std::vector<RowsFrom> receives;
    for (Rank r = 0; r < comm.size(); ++r) {
      theirs.push_back(gpu.rows(-1));
      if (r == comm.rank()) continue;
      if (group == 1) sends.push_back({r, host_mine});
      sends.push_back({r, mine[group]});
      receives.push_back({r, theirs.back()});
      if (group == 1) receives.insert(receives.end() - 1, {r, host_theirs.view().slice_rows(r, 1)});
    }
    events.push_back(comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives, gpu.ctx.stream));
  }
  for (Event& each : events) each.wait();
  for (Rank r = 0; r < comm.size(); ++r) {
    if (r == comm.rank()) continue;
    EXPECT_EQ(gpu.last_of(theirs[std::size_t(r)]), Real(r));
    EXPECT_EQ(gpu.last_of(theirs[std::size_t(comm.size() + r)]), Real(10 + r));
    EXPECT_EQ(host_theirs.at(r, 1), Real(100 + r));
  }
}

TEST_F(LinkedTransport, CarriesRowsFromGpuToGpu) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    emulated::set_seed(seed);
    std::vector<std::string> why(4, "?");
    EXPECT_THAT(failures_of_ranks(linked_group(4, 4, {}, &why), {},
                                  [](Communicator& comm) {
                                    EXPECT_STREQ(comm.transport_name(), "nccl");
                                    exchange_rows(comm);
                                  }),
                Each(IsEmpty()));
    EXPECT_THAT(why, Each(IsEmpty()));
  }
}

TEST_F(LinkedTransport, CarriesALongMessageInRounds) {
  EXPECT_THAT(failures_of_ranks(linked_group(3, 3, {.round_bytes = 7}), {}, exchange_rows), Each(IsEmpty()));
}

/// Why rank 0's rows go by way of the host; they arrive all the same.
std::string why_staged(int ranks, int gpus, LinkOptions options = {}) {
  std::vector<std::string> why(std::size_t(ranks), "");
  EXPECT_THAT(failures_of_ranks(linked_group(ranks, gpus, options, &why, {"a", "b"}), {},
                                [](Communicator& comm) {
                                  EXPECT_STREQ(comm.transport_name(), "local");
                                  exchange_rows(comm);
                                }),
              Each(IsEmpty()));
  EXPECT_EQ(why[0], why[1]);
  return why[0];
}

TEST_F(LinkedTransport, GoesByWayOfTheHostWithoutTheLibrary) {
  emulated::hide_nccl(true);
  EXPECT_EQ(why_staged(2, 2), "rank 0 on a: NCCL is missing: no libnccl.so.2");
}
TEST_F(LinkedTransport, GoesByWayOfTheHostWhereRanksShareAGpu) {
  EXPECT_EQ(why_staged(2, 1), "rank 0 on a and rank 1 on b share a GPU, which does their work in turns");
}
TEST_F(LinkedTransport, GoesByWayOfTheHostWhereARankCannotJoin) {
  emulated::refuse_to_join(1);
  EXPECT_THAT(why_staged(2, 2),
              AllOf(HasSubstr("rank 1 on b: NCCL failed: unhandled system error"), Not(HasSubstr("rank 0"))));
}
TEST_F(LinkedTransport, GoesByWayOfTheHostWhereNothingArrives) {
  emulated::refuse_to_launch(0);
  EXPECT_THAT(why_staged(2, 2), HasSubstr("rank 0 on a: NCCL failed: unhandled system error"));
}
TEST_F(LinkedTransport, GoesByWayOfTheHostWhereARankIsOnTheCpu) {
  EXPECT_EQ(why_staged(2, 2, {.on_device = false}), "rank 0 on a: it is on the CPU");
}

TEST_F(LinkedTransport, NamesARankThatNeverJoins) {
  auto transports = linked_group(2, 2, {.timeout = 300ms}, nullptr, {"a", "b"});
  const auto lost = std::move(transports.back());
  transports.pop_back();
  EXPECT_THAT(
      failures_of_ranks(std::move(transports), {300ms}, [](Communicator&) {}),
      Each("setup exchange: no message for 0.3 s from or to rank 1 on b; check that it still runs and "
           "that its link is up"));
}

TEST_F(LinkedTransport, NamesARankThatNeverComes) {
  const auto failures =
      failures_of_ranks(linked_group(3, 3, {}, nullptr, {"a", "b", "c"}), {500ms}, [](Communicator& comm) {
        if (comm.rank() == 1) return std::this_thread::sleep_for(1500ms);
        exchange_rows(comm);
      });
  EXPECT_EQ(failures[0],
            "halo exchange: no message for 0.5 s from or to rank 1 on b; check that it still runs "
            "and that its link is up");
  EXPECT_THAT(failures[2], HasSubstr("rank 1 on b"));
}

/// From its third group on it says that it has come, and no more: its GPU stands still.
class StandsStill : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Pending& begun = ForwardingTransport::start(lane, slot, sends, receives);
    return lane == Lane::kBulk && ++groups_ > 2 ? never_ : begun;
  }

 private:
  struct Never : Pending {
    bool done() override { return false; }
    std::vector<Rank> outstanding() const override { return {}; }
    std::int64_t moved() const override { return 0; }
  } never_;
  int groups_ = 0;
};

TEST_F(LinkedTransport, GivesUpWhereAGpuStandsStill) {
  auto transports = linked_group(2, 2, {}, nullptr, {"a", "b"});
  transports[1] = std::make_unique<StandsStill>(std::move(transports[1]));
  const auto failures = failures_of_ranks(std::move(transports), {500ms}, [](Communicator& comm) {
    exchange_rows(comm);
    exchange_rows(comm);
  });
  EXPECT_THAT(failures[0], HasSubstr("halo exchange: no message for 0.5 s from or to rank 1 on b"));
}

TEST_F(LinkedTransport, TellsDifferentOrdersOfGroups) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto differ = [] {
    failures_of_ranks(
        linked_group(2, 2), {}, [](Communicator& comm) {  // both send first: each waits for the other
          OnGpu gpu(comm);
          const Matrix mine = gpu.rows(1), theirs = gpu.rows(2);
          const RowsTo send{1 - comm.rank(), mine};
          const RowsFrom receive{1 - comm.rank(), const_cast<Matrix&>(theirs)};
          Event left = comm.exchange(Lane::kBulk, Traffic::kHalo, {&send, 1}, {}, gpu.ctx.stream);
          comm.exchange(Lane::kBulk, Traffic::kHalo, {}, {&receive, 1}, gpu.ctx.stream).wait();
        });
  };
  EXPECT_DEATH(differ(), "their transfers are in different orders");
}

}  // namespace
}  // namespace atl::test
