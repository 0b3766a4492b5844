// Ranks as processes, started by mpirun.
#include "comm/transports.h"

#define OMPI_SKIP_MPICXX 1  // Open MPI's C++ bindings: seconds to compile, unused
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/mpi_lane.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kLongestHold{100};

/// A number that mpirun tells its ranks in the environment; 1 without mpirun.
int told_by_mpirun(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// Keeps the socket buffers small, so that a sum started beside bulk soon overtakes the bytes queued there.
/// Overtaking takes 28 ms on a link of 200 Mbit/s and 4 ms at 1 Gbit/s (tests/e2e/rig). 512 KiB are enough
/// for 10 Gbit/s with round trips up to 0.4 ms (the kernel doubles what is asked for); the connections that
/// share a server's link divide them. With several connections, the receive buffers are small too. Otherwise
/// these connections fill the queue of the link where they meet, and a sum on four servers takes twice 50 ms.
/// Parameters that the user has set stay.
void keep_queues_short() {
  constexpr int kLeast = 32 * 1024;
  const int here = told_by_mpirun("OMPI_COMM_WORLD_LOCAL_SIZE"), all = told_by_mpirun("OMPI_COMM_WORLD_SIZE");
  const int connections = here * (all - here);
  const std::string room = std::to_string(std::max(kLeast, kQueuedBytes / std::max(1, connections)));
  setenv("OMPI_MCA_btl_tcp_sndbuf", room.c_str(), 0);
  if (connections > 1) setenv("OMPI_MCA_btl_tcp_rcvbuf", room.c_str(), 0);
}

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(MpiOptions options) : options_(std::move(options)) {
    for (const std::int64_t bytes : {options_.piece_bytes, options_.near_piece_bytes})
      ATOLL_CHECK(bytes >= 1 && bytes <= INT_MAX, "{} bytes", bytes);
  }

  /// Initialises MPI as "funneled": only the thread that initialises MPI may call it.
  void open() override {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread", place_);
    if (provided < MPI_THREAD_FUNNELED)
      fail("this MPI library doesn't support threads (MPI_THREAD_FUNNELED); install one built with threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &place_.rank), "MPI_Comm_rank", place_);
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size", place_);
    const std::int64_t far = options_.piece_bytes, near = options_.near_piece_bytes;
    // Sums are short. The library buffers those that arrive before their receive is posted, so senders don't
    // ask.
    for (int slot = 0; slot < slots_of(Lane::kSmall); ++slot)
      small_.emplace_back(place_, size_, MpiLane::Options{1, far, near, false});
    bulk_.emplace(place_, size_, MpiLane::Options{slots_of(Lane::kBulk), far, near, true});
    prefetch_.emplace(place_, size_, MpiLane::Options{slots_of(Lane::kPrefetch), far, near, true});
    gather_hosts();
  }

  /// A disorderly close leaves MPI as it is: mpirun sees a process end without MPI_Finalize and stops the
  /// others.
  void close(bool orderly) override {
    if (!orderly) return;
    for (MpiLane& each : small_) each.close();
    bulk_->close();
    prefetch_->close();
    MPI_Finalize();
  }

  /// Nothing to do: MPI moves bytes only within calls, and no more calls come.
  void abandon() override {}

  Rank rank() const override { return place_.rank; }
  int size() const override { return size_; }
  const std::string& host(Rank rank) const override { return place_.hosts[std::size_t(rank)]; }
  const char* name() const override { return "mpi"; }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    if (lane == Lane::kSmall) return small_[std::size_t(slot)].start(0, sends, receives);
    return (lane == Lane::kBulk ? *bulk_ : *prefetch_).start(slot, sends, receives);
  }

  /// Holds bulk and prefetch back while a sum has unsent pieces. If no piece leaves for a while, the hold
  /// ends, because the receiver of the sum may be waiting for bulk or prefetch.
  void sums_go_first(bool first) override {
    const auto now = std::chrono::steady_clock::now();
    std::int64_t left = 0;
    if (first) std::ranges::for_each(small_, [&](const MpiLane& each) { left += each.unsent(); });
    if (left != std::exchange(left_, left)) moved_ = now;
    const bool hold = left > 0 && now - moved_ < kLongestHold;
    bulk_->hold(hold);
    prefetch_->hold(hold);
  }

 private:
  void gather_hosts() {
    constexpr int kLength = 256;
    static_assert(kLength >= MPI_MAX_PROCESSOR_NAME);
    std::array<char, kLength> mine{};
    int length = 0;
    check_mpi(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name", place_);
    if (!options_.host.empty()) {
      mine.fill('\0');
      options_.host.copy(mine.data(), kLength - 1);
    }
    std::vector<char> all(std::size_t(size_) * kLength);
    check_mpi(MPI_Allgather(mine.data(), kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, MPI_COMM_WORLD),
              "MPI_Allgather", place_);
    for (int r = 0; r < size_; ++r) place_.hosts.emplace_back(&all[std::size_t(r) * kLength]);
  }

  MpiOptions options_;
  MpiPlace place_;
  int size_ = 1;
  std::deque<MpiLane> small_;  // by slot: each has an order of its own
  std::optional<MpiLane> bulk_, prefetch_;
  std::int64_t left_ = 0;                        // unsent pieces of sums that go first
  std::chrono::steady_clock::time_point moved_;  // when `left_` last changed
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiOptions options) {
  keep_queues_short();  // MPI_Init reads the environment; no other thread does yet
  return std::make_unique<MpiTransport>(std::move(options));
}

}  // namespace atl
