// Communication as a strategy sees it: right data, the same bits everywhere, every byte in the ledger.
#include "comm/communicator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/random.h"
#include "comm/all_reduce.h"
#include "comm/ranks.h"

namespace atl {
namespace {

/// A value that no other rank, peer, round or element has.
Real token(Rank from, Rank to, Index i) {
  return Real(from * 1000 + to * 100) + Real(i) / 64;
}

class Ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OneToEight, Ranks, testing::Values(1, 2, 3, 4, 8));

TEST_P(Ranks, exchange_rows_of_different_sizes_with_every_peer) {
  run_ranks(GetParam(), [](Communicator& comm) {
    const Index cols = 3;
    std::vector<Matrix> out, in;
    std::vector<RowsTo> sends;
    std::vector<RowsFrom> receives;
    for (Rank p = 0; p < comm.size(); ++p) {
      if (p == comm.rank()) continue;
      Matrix& o = out.emplace_back(comm.rank() * 5 + p, cols);
      for (Index i = 0; i < o.rows() * cols; ++i) o.data()[i] = token(comm.rank(), p, i);
      in.emplace_back(p * 5 + comm.rank(), cols);
      sends.push_back({p, out.back()});
      receives.push_back({p, in.back()});
    }
    comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives).wait();
    for (const RowsFrom& from : receives)
      for (Index i = 0; i < from.rows.rows * cols; ++i)
        ASSERT_EQ(from.rows.data[i], token(from.peer, comm.rank(), i)) << "from " << from.peer << " at " << i;
  });
}

TEST_P(Ranks, sum_is_added_in_rank_order_to_the_last_bit) {
  const int ranks = GetParam();
  for (const Index count : {Index(1), Index(7), Index(8192), Index(8193), Index(100'003)}) {
    std::vector<std::vector<Real>> terms(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r)
      for (Index i = 0; i < count; ++i)
        terms[std::size_t(r)].push_back(Real(std::ldexp(
            Draws(3, Purpose::kGenerator).uniform_at(std::uint64_t(r), std::uint64_t(i)), int(i % 30))));
    std::vector<Real> expected = terms[0];
    for (int r = 1; r < ranks; ++r)
      for (Index i = 0; i < count; ++i) expected[std::size_t(i)] += terms[std::size_t(r)][std::size_t(i)];
    run_ranks(ranks, [&](Communicator& comm) {
      auto values = terms[std::size_t(comm.rank())];
      comm.all_reduce(Traffic::kGradient, std::span<Real>(values));
      ASSERT_EQ(values, expected) << count << " elements";
      const auto ledger = comm.ledger();
      EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kGradient),
                all_reduce_bytes(ranks, comm.rank(), count, sizeof(Real)));
    });
  }
}

TEST(AllReduceBytes, BarelyGrowWithTheRanks) {
  const Index few = all_reduce_bytes(2, 0, 9000, 4);
  for (const int ranks : {4, 16, 128, 1024})
    EXPECT_LE(all_reduce_bytes(ranks, 0, 9000, 4), 2 * few + ranks * 4);
  EXPECT_EQ(all_reduce_bytes(1024, 0, 4, 8), 1023 * 4 * 8) << "little goes at once";
}

TEST_P(Ranks, sums_that_were_begun_travel_while_others_begin) {
  run_ranks(GetParam(), [](Communicator& comm) {
    std::vector<std::vector<Real>> values, expected;
    std::vector<std::vector<std::byte>> terms;
    std::vector<Event> sums;
    const RankGroup everyone(comm, {});
    for (const std::size_t count : {3U, 20'000U, 0U, 70U}) {
      values.emplace_back(count, Real(comm.rank() + 1));
      expected.emplace_back(count, Real(comm.size() * (comm.size() + 1)) / 2);
      terms.emplace_back(all_reduce_memory(comm.size(), comm.rank(), Index(count), sizeof(Real)));
    }
    const auto before = comm.ledger().bytes(Link::kIntra);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums.push_back(comm.begin_all_reduce(Traffic::kGradient, everyone, values[i], terms[i]));
      bytes += all_reduce_bytes(comm.size(), comm.rank(), Index(values[i].size()), sizeof(Real));
    }
    for (Event& each : sums) each.wait();
    EXPECT_EQ(values, expected);
    EXPECT_EQ(comm.ledger().bytes(Link::kIntra) - before, bytes);
  });
}

TEST_P(Ranks, sums_of_doubles_and_counts) {
  run_ranks(GetParam(), [](Communicator& comm) {
    std::vector<double> d{0.5, double(comm.rank())};
    std::vector<std::int64_t> n{std::int64_t(1) << 40, comm.rank()};
    comm.all_reduce(Traffic::kStatistics, std::span(d));
    comm.all_reduce(Traffic::kStatistics, std::span(n));
    const int p = comm.size();
    EXPECT_EQ(d, (std::vector<double>{0.5 * p, p * (p - 1) / 2.0}));
    EXPECT_EQ(n, (std::vector<std::int64_t>{p * (std::int64_t(1) << 40), p * (p - 1) / 2}));
  });
}

TEST_P(Ranks, broadcast_gather_and_all_to_all_carry_blobs_of_any_size) {
  run_ranks(GetParam(), [](Communicator& comm) {
    const auto blob = [](Rank from, Rank to) {
      return std::vector<std::byte>(std::size_t(from * 7 + to), std::byte(from * 16 + to));
    };
    const Rank root = comm.size() - 1;
    auto word = comm.rank() == root ? blob(9, 9) : std::vector<std::byte>(blob(9, 9).size());
    comm.broadcast(Traffic::kSetup, root, word);
    EXPECT_EQ(word, blob(9, 9));
    const auto gathered = comm.all_gather(Traffic::kSetup, blob(comm.rank(), 1));
    std::vector<std::vector<std::byte>> to;
    for (Rank r = 0; r < comm.size(); ++r) to.push_back(blob(comm.rank(), r));
    const auto received = comm.all_to_all(Traffic::kSetup, to);
    for (Rank r = 0; r < comm.size(); ++r) {
      EXPECT_EQ(gathered[std::size_t(r)], blob(r, 1));
      EXPECT_EQ(received[std::size_t(r)], blob(r, comm.rank()));
    }
    comm.barrier();
  });
}

TEST_P(Ranks, small_lane_overtakes_a_bulk_exchange_that_waits_for_its_peer) {
  run_ranks(GetParam(), [](Communicator& comm) {
    Matrix out(4, 4), in(4, 4);
    out.zero();
    const Rank next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
    const std::vector<RowsTo> sends =
        comm.size() > 1 ? std::vector<RowsTo>{{next, out}} : std::vector<RowsTo>{};
    const std::vector<RowsFrom> receives =
        comm.size() > 1 ? std::vector<RowsFrom>{{last, in}} : std::vector<RowsFrom>{};
    // Rank 0 enters the bulk exchange only after the sum: a lane shared by both would never end.
    Event bulk;
    if (comm.rank() != 0) bulk = comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives);
    std::vector<std::int64_t> one{1};
    comm.all_reduce(Traffic::kStatistics, std::span(one));
    EXPECT_EQ(one[0], comm.size());
    if (comm.rank() == 0) bulk = comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives);
    bulk.wait();
    EXPECT_TRUE(bulk.complete());
  });
}

TEST(Bulk, an_exchange_goes_on_while_an_earlier_one_waits_for_its_peer) {
  run_ranks(3, [](Communicator& comm) {
    const Matrix mine(2, 1);
    Matrix theirs(2, 1);
    const auto with = [&](Rank peer, Index row) {
      const RowsTo send{peer, mine.view().slice_rows(row, 1)};
      const RowsFrom receive{peer, theirs.view().slice_rows(row, 1)};
      return comm.exchange(Lane::kBulk, Traffic::kHalo, std::span(&send, 1), std::span(&receive, 1));
    };
    std::int64_t token = 0;
    if (comm.rank() == 0) {
      Event late = with(1, 0);
      with(2, 1).wait();
      EXPECT_FALSE(late.complete());
      comm.all_reduce(Traffic::kStatistics, std::span(&token, 1));
      return late.wait();
    }
    if (comm.rank() == 2) with(0, 1).wait();
    comm.all_reduce(Traffic::kStatistics, std::span(&token, 1));
    if (comm.rank() == 1) with(0, 0).wait();
  });
}

TEST_P(Ranks, many_operations_in_flight_finish_in_order) {
  run_ranks(GetParam(), [](Communicator& comm) {
    constexpr int kOperations = 200;
    const Rank next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
    if (next == comm.rank()) return;
    Matrix mine(kOperations, 1), theirs(kOperations, 1);
    for (int i = 0; i < kOperations; ++i) mine.at(i, 0) = Real(1000 * comm.rank() + i);
    std::vector<Event> events;
    for (int i = 0; i < kOperations; ++i) {
      const RowsTo send{next, mine.view().slice_rows(i, 1)};
      const RowsFrom receive{before, theirs.view().slice_rows(i, 1)};
      events.push_back(comm.exchange(i % 3 == 0 ? Lane::kBulk : Lane::kSmall, Traffic::kHalo,
                                     std::span(&send, 1), std::span(&receive, 1)));
    }
    for (int i = 0; i < kOperations; ++i) {
      events[std::size_t(i)].wait();
      EXPECT_EQ(theirs.at(i, 0), Real(1000 * before + i));
    }
  });
}

TEST(Ledger, splits_bytes_by_link_purpose_and_peer) {
  const std::vector<std::string> hosts{"a", "a", "b"};
  run_ranks(
      3,
      [](Communicator& comm) {
        Matrix out(2, 3), in(2, 3);
        out.zero();
        std::vector<RowsTo> sends;
        std::vector<RowsFrom> receives;
        if (comm.rank() == 0) sends = {{1, out}, {2, out}};
        if (comm.rank() != 0) receives = {{0, in}};
        comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives).wait();
        const Ledger ledger = comm.ledger();
        const std::int64_t bytes = comm.rank() == 0 ? 6 * std::int64_t(sizeof(Real)) : 0;
        EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kHalo), bytes);
        EXPECT_EQ(ledger.bytes(Link::kInter, Traffic::kHalo), bytes);
        EXPECT_EQ(ledger.bytes(Link::kInter), bytes);
        EXPECT_EQ(ledger.bytes_to(2), bytes);
        EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kHaloGradient), 0);
        EXPECT_TRUE(comm.same_server(0, 1));
        EXPECT_FALSE(comm.same_server(1, 2));
      },
      hosts);
}

TEST(Ledger, waiting_for_a_late_peer_is_exposed_time) {
  run_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::vector<Real> values(4);
    comm.all_reduce(Traffic::kGradient, std::span<Real>(values));
    const Ledger ledger = comm.ledger();
    if (comm.rank() == 0) {
      EXPECT_GE(ledger.exposed_seconds(Traffic::kGradient), 0.28);
    } else {
      EXPECT_LT(ledger.exposed_seconds(Traffic::kGradient), 0.2);
    }
  });
}

/// As threads do that each make batches of a rank that is alone.
TEST(Exchange, of_nothing_may_be_asked_for_by_several_threads) {
  run_ranks(1, [](Communicator& comm) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&comm] {
        const std::vector<Message> none;
        for (int round = 0; round < 1000000; ++round) {
          Event event = comm.exchange(Lane::kPrefetch, Traffic::kIds, none, none);
          ASSERT_TRUE(event.complete());
          event.wait();
        }
      });
    for (std::thread& each : threads) each.join();
  });
}

TEST(CheckSame, passes_when_equal_and_names_the_rank_that_differs) {
  run_ranks(3, [](Communicator& comm) { comm.check_same("build", "abc"); });
  const auto failures = failures_of_ranks(make_local_group(3, {"a", "a", "b"}), {}, [](Communicator& comm) {
    comm.check_same("data set", comm.rank() == 2 ? "other" : "cora");
  });
  for (const auto& failure : failures)
    EXPECT_EQ(failure,
              "the data set differs between ranks: \"cora\" on rank 0 (a), \"other\" on rank 2 (b); give "
              "every rank the same");
}

TEST(CheckSame, tells_the_line_that_differs) {
  const auto failures = failures_of_ranks(make_local_group(2, {"a", "b"}), {}, [](Communicator& comm) {
    comm.check_same("manifest",
                    comm.rank() == 0 ? "kind: GNNJob\nranks: 2\nseed: 1\n" : "kind: GNNJob\nranks: 4\n");
  });
  EXPECT_EQ(
      failures[1],
      "the manifest differs between ranks: line 2 is \"ranks: 2\" on rank 0 (a), \"ranks: 4\" on rank 1 (b); "
      "give every rank the same");
}

}  // namespace
}  // namespace atl
