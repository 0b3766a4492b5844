// Communication over MPI, each rank a process. Run under mpirun:
//   mpirun -n 3 mpi_comm_test            exchanges, sums and blobs, with messages split at 1000 bytes
//   mpirun -n 3 mpi_comm_test leave      rank 1 fails: the job must end, not hang
//   mpirun -n 2 mpi_comm_test absent     rank 1 never sends: rank 0's time-out names it
//   mpirun -n 2 mpi_comm_test longer     rank 0 sends more than rank 1 has room for: rank 1 names it
//   mpirun -n 2 mpi_comm_test latency    microseconds of one exchange and one sum
//   mpirun -n 2 mpi_comm_test before     milliseconds of a sum of a megabyte, and beside an exchange of 16 MB
//   mpirun -n 2 mpi_comm_test uneven     Mbit/s each way where one rank sends four times as much as the other
//   mpirun -n 2 mpi_comm_test beside     milliseconds of a barrier beside an exchange of 64 MB, and its rate
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "comm/all_reduce.h"
#include "comm/communicator.h"
#include "comm/transports.h"

namespace atl {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) fail("expectation failed: {}", what);
}

Real token(Rank from, Rank to, Index i) {
  return Real(from * 1000 + to * 100) + Real(i % 4096) / 64;
}

/// Rows of a size of its own between every two ranks, in all lanes at once, one of them from another thread.
void exchange_with_all(Communicator& comm, Index rows) {
  std::vector<Matrix> out, in;
  std::vector<RowsTo> sends;
  std::vector<RowsFrom> receives;
  for (Rank p = 0; p < comm.size(); ++p) {
    if (p == comm.rank()) continue;
    Matrix& o = out.emplace_back(rows * (comm.rank() + 1) + p, 7);
    for (Index i = 0; i < o.rows() * 7; ++i) o.data()[i] = token(comm.rank(), p, i);
    in.emplace_back(rows * (p + 1) + comm.rank(), 7);
    sends.push_back({p, out.back()});
    receives.push_back({p, in.back()});
  }
  std::vector<Real> ones(3, 1);
  std::vector<Matrix> ahead;
  std::vector<RowsFrom> receives_ahead;
  for (const RowsFrom& from : receives)
    receives_ahead.push_back({from.peer, ahead.emplace_back(from.rows.rows, from.rows.cols)});
  std::thread prefetch([&] {
    for (int i = 0; i < 3; ++i)
      comm.exchange(Lane::kPrefetch, Traffic::kFeatures, sends, receives_ahead).wait();
  });
  Event bulk = comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives);
  comm.all_reduce(Traffic::kGradient, std::span<Real>(ones));
  bulk.wait();
  prefetch.join();
  for (std::size_t p = 0; p < receives.size(); ++p)
    expect(std::equal(in[p].data(), in[p].data() + in[p].rows() * 7, ahead[p].data()),
           "rows that were fetched ahead");
  expect(ones == std::vector<Real>(3, Real(comm.size())), "sum of ones beside a bulk exchange");
  for (const RowsFrom& from : receives)
    for (Index i = 0; i < from.rows.rows * 7; ++i)
      expect(from.rows.data[i] == token(from.peer, comm.rank(), i),
             fmt::format("row data from {}", from.peer));
}

/// Short messages are sent without asking, long ones wait for their receiver, who comes late: none is taken
/// for another.
void short_behind_long(Communicator& comm) {
  const Rank to = (comm.rank() + 1) % comm.size(), from = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<Index> rows = {600, 3, 700, 1, 2, 20000, 4};
  std::vector<Matrix> out, in;
  std::vector<Event> all;
  if (comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const Index n : rows) {
    Matrix& o = out.emplace_back(n, 1);
    for (Index i = 0; i < n; ++i) o.data()[i] = token(comm.rank(), to, i + n);
    const RowsTo send{to, o};
    const RowsFrom receive{from, in.emplace_back(n, 1)};
    all.push_back(comm.exchange(Lane::kBulk, Traffic::kHalo, std::span(&send, 1), std::span(&receive, 1)));
  }
  for (Event& each : all) each.wait();
  for (std::size_t m = 0; m < rows.size(); ++m)
    for (Index i = 0; i < rows[m]; ++i)
      expect(in[m].data()[i] == token(from, comm.rank(), i + rows[m]),
             fmt::format("message {}, row {}", m, i));
}

void sum_in_rank_order(Communicator& comm, Index count) {
  const auto term = [](Rank r, Index i) { return Real(1) / Real(1 + r * 7 + i % 1000); };
  std::vector<Real> values, expected;
  for (Index i = 0; i < count; ++i) {
    values.push_back(term(comm.rank(), i));
    Real sum = term(0, i);
    for (Rank r = 1; r < comm.size(); ++r) sum += term(r, i);
    expected.push_back(sum);
  }
  const auto before = comm.ledger().bytes(Link::kIntra);
  comm.all_reduce(Traffic::kGradient, std::span<Real>(values));
  expect(values == expected, fmt::format("bits of a sum of {} elements", count));
  expect(comm.ledger().bytes(Link::kIntra) - before ==
             all_reduce_bytes(comm.size(), comm.rank(), count, sizeof(Real)),
         "bytes of a sum");
}

void blobs(Communicator& comm) {
  const auto blob = [](Rank from, Rank to) {
    return std::vector<std::byte>(std::size_t(from * 1500 + to), std::byte(from * 16 + to));
  };
  std::vector<std::vector<std::byte>> to;
  for (Rank r = 0; r < comm.size(); ++r) to.push_back(blob(comm.rank(), r));
  const auto received = comm.all_to_all(Traffic::kSetup, to);
  for (Rank r = 0; r < comm.size(); ++r)
    expect(received[std::size_t(r)] == blob(r, comm.rank()), "all_to_all");
  auto word = comm.rank() == 0 ? blob(3, 9) : std::vector<std::byte>(blob(3, 9).size());
  comm.broadcast(Traffic::kSetup, 0, word);
  expect(word == blob(3, 9), "broadcast");
  comm.check_same("program", "mpi_comm_test");
}

void correctness(Communicator& comm) {
  for (const Index rows : {0, 1, 50, 20'000}) exchange_with_all(comm, rows);
  short_behind_long(comm);
  for (const Index count : {1, 8192, 8193, 300'001}) sum_in_rank_order(comm, count);
  blobs(comm);
  for (int i = 0; i < 200; ++i) comm.barrier();
}

void absent(Communicator& comm) {
  std::vector<Real> values(4);
  if (comm.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    fail("rank 1 stayed away, as asked");
  }
  comm.all_reduce(Traffic::kGradient, std::span<Real>(values));
}

void leave(Communicator& comm) {
  if (comm.rank() == 1) fail("rank 1 leaves, as asked");
  comm.barrier();
  comm.barrier();
}

/// Each operation follows `compute` µs of work, as in an epoch: threads and caches are not warm from the last
/// one.
void latency(Communicator& comm) {
  using Clock = std::chrono::steady_clock;
  const Rank peer = comm.rank() ^ 1;
  for (const Index floats : {16, 4096, 65536, 4 << 20})
    for (const int compute : {0, 300}) {
      std::vector<double> exchange_us, sum_us;
      Matrix out(floats, 1), in(floats, 1);
      out.zero(), in.zero();
      const std::vector<RowsTo> sends{{peer, out}};
      const std::vector<RowsFrom> receives{{peer, in}};
      const auto timed = [&](std::vector<double>& us, const auto& operation) {
        const auto ready = Clock::now() + std::chrono::microseconds(compute);
        while (Clock::now() < ready) continue;
        const auto begin = Clock::now();
        operation();
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      };
      for (int i = 0; i < (floats > 100'000 ? 20 : 300); ++i) {
        timed(exchange_us, [&] { comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives).wait(); });
        timed(sum_us,
              [&] { comm.all_reduce(Traffic::kGradient, std::span<Real>(out.data(), std::size_t(floats))); });
      }
      const auto median = [](std::vector<double>& us) {
        std::nth_element(us.begin(), us.begin() + Index(us.size()) / 2, us.end());
        return us[us.size() / 2];
      };
      if (comm.rank() == 0)
        fmt::print("{:>8} floats after {:>3} µs of work: exchange {:7.1f} µs, sum {:7.1f} µs\n", floats,
                   compute, median(exchange_us), median(sum_us));
    }
  if (comm.rank() == 0)
    fmt::print("progress thread: {:.2f} s of processor time\n", comm.progress_cpu_seconds());
}

/// Every rank's whole bulk to the next one; all stop together, after as many barriers as rank 0 found time
/// for.
void beside(Communicator& comm) {
  using Clock = std::chrono::steady_clock;
  const Rank next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  Matrix out(Index(16) << 20, 1), in(Index(16) << 20, 1);
  out.zero(), in.zero();
  const std::vector<RowsTo> sends{{next, out}};
  const std::vector<RowsFrom> receives{{last, in}};
  std::vector<double> ms;
  const auto milliseconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  const auto begin = Clock::now();
  Event bulk = comm.exchange(Lane::kBulk, Traffic::kHalo, sends, receives);
  for (std::int64_t under_way = 1; under_way == 1;) {
    const auto asked = Clock::now();
    under_way = comm.rank() == 0 && !bulk.complete() ? 1 : 0;
    comm.all_reduce(Traffic::kStatistics, std::span(&under_way, 1));
    ms.push_back(milliseconds_since(asked));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bulk.wait();
  const double took = milliseconds_since(begin);
  std::nth_element(ms.begin(), ms.begin() + Index(ms.size()) / 2, ms.end());
  if (comm.rank() == 0)
    fmt::print("{} sums, median {:.2f} ms; {:.0f} Mbit/s\n", ms.size(), ms[ms.size() / 2],
               8e-3 * double(out.held_bytes()) / took);
}

/// A sum that is waited for, by itself and beside bulk, which gives way to it.
void before(Communicator& comm) {
  using Clock = std::chrono::steady_clock;
  Matrix out(Index(4) << 20, 1), in(Index(4) << 20, 1);
  out.zero(), in.zero();
  std::vector<Real> values(std::size_t(1) << 18);
  const auto sum = [&] {
    comm.barrier();
    const auto begin = Clock::now();
    comm.all_reduce(Traffic::kGradient, std::span<Real>(values));
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  const double alone = sum();
  const RowsTo send{comm.rank() ^ 1, out};
  const RowsFrom receive{comm.rank() ^ 1, in};
  Event bulk = comm.exchange(Lane::kBulk, Traffic::kHalo, std::span(&send, 1), std::span(&receive, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double beside = sum();
  const bool was_beside = !bulk.complete();
  bulk.wait();
  expect(was_beside, "a sum that ends before the bulk");
  if (comm.rank() == 0) fmt::print("a sum takes {:.1f} ms, {:.1f} ms beside bulk\n", alone, beside);
}

/// As halo rows go forward and their gradients back: what one rank sends more of in one exchange the other
/// one does in the next.
void uneven(Communicator& comm) {
  using Clock = std::chrono::steady_clock;
  constexpr Index kMany = Index(1) << 20, kFew = kMany / 4;
  constexpr int kExchanges = 8;
  Matrix out(kMany, 1), in(kExchanges * kMany, 1);
  out.zero(), in.zero();
  comm.barrier();
  const auto begin = Clock::now();
  const double cpu = comm.progress_cpu_seconds();
  std::vector<Event> all;
  for (int i = 0; i < kExchanges; ++i) {
    const bool much = (i + comm.rank()) % 2 == 0;
    const RowsTo send{comm.rank() ^ 1, out.view().slice_rows(0, much ? kMany : kFew)};
    const RowsFrom receive{comm.rank() ^ 1, in.view().slice_rows(i * kMany, much ? kFew : kMany)};
    all.push_back(comm.exchange(Lane::kBulk, Traffic::kHalo, std::span(&send, 1), std::span(&receive, 1)));
  }
  for (Event& each : all) each.wait();
  const double bits = 8.0 * sizeof(Real) * double(kExchanges) * double(kMany + kFew) / 2;
  if (comm.rank() == 0)
    fmt::print("{:.0f} Mbit/s each way, {:.2f} ms of processor time a megabyte\n",
               1e-6 * bits / std::chrono::duration<double>(Clock::now() - begin).count(),
               8e9 * (comm.progress_cpu_seconds() - cpu) / bits);
}

/// MPI fails one message of several in a call: its own reason is told, not that one of them failed.
void longer(Communicator& comm) {
  Matrix out(comm.rank() == 0 ? 20 : 10, 1), in(10, 1);
  const RowsTo send{comm.rank() ^ 1, out};
  const RowsFrom receive{comm.rank() ^ 1, in};
  comm.exchange(Lane::kSmall, Traffic::kHalo, std::span(&send, 1), std::span(&receive, 1)).wait();
}

int run(const std::string& mode) {
  MpiOptions options;
  if (mode.empty()) options.piece_bytes = options.near_piece_bytes = 1000;
  const auto timeout = std::chrono::seconds(mode == "absent" ? 1 : 30);
  try {
    Communicator comm(make_mpi_transport(options), {timeout});
    if (mode.empty()) correctness(comm);
    if (mode == "absent") absent(comm);
    if (mode == "leave") leave(comm);
    if (mode == "longer") longer(comm);
    if (mode == "latency") latency(comm);
    if (mode == "beside") beside(comm);
    if (mode == "before") before(comm);
    if (mode == "uneven") uneven(comm);
    if (comm.rank() == 0) fmt::print("ok on {} ranks\n", comm.size());
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

}  // namespace
}  // namespace atl

int main(int argc, char** argv) {
  return atl::run(argc > 1 ? argv[1] : "");
}
