// Measures how far the clocks of different servers are apart, by round trips.
#include "comm/trace.h"

#include <cstring>
#include <limits>
#include <span>

#include "comm/communicator.h"

namespace atl {
namespace {

constexpr int kRoundTrips = 10;

std::int64_t now() {
  return Trace::at(std::chrono::steady_clock::now());
}

/// A one-way message of one number between rank 0 and a peer.
class Ball {
 public:
  explicit Ball(Communicator& comm) : comm_(comm) { one_.zero(); }
  void send(Rank to) {
    const RowsTo rows{to, one_};
    comm_.exchange(Lane::kSmall, Traffic::kSetup, std::span(&rows, 1), {}).wait();
  }
  void receive(Rank from) {
    const RowsFrom rows{from, one_};
    comm_.exchange(Lane::kSmall, Traffic::kSetup, {}, std::span(&rows, 1)).wait();
  }

 private:
  Communicator& comm_;
  Matrix one_{1, 1};
};

/// On rank 0: when each ball left and came back; on the peer: when it arrived.
using Times = std::vector<std::int64_t>;

Times play(Communicator& comm, Rank peer) {
  Ball ball(comm);
  Times times;
  for (int i = 0; i < kRoundTrips; ++i) {
    if (comm.rank() == 0) {
      times.push_back(now());
      ball.send(peer);
      ball.receive(peer);
    } else {
      ball.receive(0);
    }
    times.push_back(now());
    if (comm.rank() == peer) ball.send(0);
  }
  return times;
}

ClockOffset quickest(const Times& here, const Times& there) {
  ClockOffset best{0, std::numeric_limits<std::int64_t>::max()};
  for (std::size_t i = 0; i < there.size(); ++i) {
    const std::int64_t left = here[2 * i], back = here[2 * i + 1], half = (back - left + 1) / 2;
    if (half < best.error) best = {there[i] - (left + half), half};
  }
  return best;
}

}  // namespace

std::vector<ClockOffset> measure_clock_offsets(Communicator& comm) {
  std::vector<Times> by_peer(std::size_t(comm.size()));
  for (Rank peer = 1; peer < comm.size(); ++peer)
    if (comm.rank() == 0 || comm.rank() == peer) by_peer[std::size_t(peer)] = play(comm, peer);
  const Times mine = comm.rank() == 0 ? Times{} : by_peer[std::size_t(comm.rank())];
  const auto all = comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(mine)));
  std::vector<ClockOffset> offsets(std::size_t(comm.size()));
  for (Rank peer = 1; comm.rank() == 0 && peer < comm.size(); ++peer) {
    Times there(std::size_t{kRoundTrips});
    std::memcpy(there.data(), all[std::size_t(peer)].data(), all[std::size_t(peer)].size());
    offsets[std::size_t(peer)] = quickest(by_peer[std::size_t(peer)], there);
  }
  comm.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(offsets)));
  return offsets;
}

}  // namespace atl
