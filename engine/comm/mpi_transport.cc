#include "comm/mpi_transport.h"

#define OMPI_SKIP_MPICXX 1  // Open MPI's C++ bindings: seconds to compile, unused
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"

namespace atl {
namespace {

constexpr int kTag = 1;

/// Where this process stands in the job, for error messages.
struct Place {
  Rank rank = 0;
  std::vector<std::string> hosts;
};

void check(int code, const char* call, const Place& place) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  const auto me = std::size_t(place.rank);
  fail("{} failed on rank {} ({}): {}", call, place.rank,
       me < place.hosts.size() ? place.hosts[me] : "host unknown", text);
}

/// What a link between servers carries both ways at once, and small messages beside bulk. By default Open MPI has a receiver ask
/// for each long message's bytes ("put"). That request stands in the receiver's socket behind the bulk that it sends itself,
/// so that two ranks which exchange rows mostly send one after the other, at half of the link's rate, and a sum that is started
/// meanwhile waits for the whole of a message. Sent in fragments, and with little room before the wire, bulk lets others pass:
/// beside an exchange a sum takes 24 ms at 200 Mbit/s and 4 ms at 1 Gbit/s, where it took seconds (tests/e2e/rig). Room
/// for 512 KiB (the kernel doubles it) is enough for 10 Gbit/s up to 0.4 ms. Who has set a parameter keeps it.
void prefer_fragments() {
  for (const auto& [name, value] :
       {std::pair("OMPI_MCA_btl_tcp_flags", "send,inplace"),
        std::pair("OMPI_MCA_btl_tcp_max_send_size", "65536"), std::pair("OMPI_MCA_btl_tcp_sndbuf", "262144")})
    setenv(name, value, 0);
}

class MpiPending : public Pending {
 public:
  MpiPending(const Place& place, std::int64_t max_bytes) : place_(place), max_bytes_(max_bytes) {}

  MPI_Comm comm = MPI_COMM_NULL;

  /// Receives first, so that what arrives finds its buffer. Both sides split a message at the same places.
  void start(std::span<const Message> sends, std::span<const Message> receives) {
    requests_.clear(), peers_.clear();
    for (const Message& m : receives)
      for_each_piece(m, [&](std::byte* data, int bytes, MPI_Request* request) {
        check(MPI_Irecv(data, bytes, MPI_BYTE, m.peer, kTag, comm, request), "MPI_Irecv", place_);
      });
    for (const Message& m : sends)
      for_each_piece(m, [&](std::byte* data, int bytes, MPI_Request* request) {
        check(MPI_Isend(data, bytes, MPI_BYTE, m.peer, kTag, comm, request), "MPI_Isend", place_);
      });
    completed_.resize(requests_.size());
  }

  bool done() override {
    int count = 0;
    const int code =
        MPI_Testsome(int(requests_.size()), requests_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
    check(code, "MPI_Testsome", place_);
    return std::all_of(requests_.begin(), requests_.end(),
                       [](MPI_Request r) { return r == MPI_REQUEST_NULL; });
  }

  std::vector<Rank> outstanding() const override {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (requests_[i] != MPI_REQUEST_NULL) ranks.push_back(peers_[i]);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

 private:
  template <class Post>
  void for_each_piece(const Message& m, const Post& post) {
    for (std::int64_t at = 0; at < m.bytes; at += max_bytes_) {
      peers_.push_back(m.peer);
      post(m.data + at, int(std::min(max_bytes_, m.bytes - at)), &requests_.emplace_back(MPI_REQUEST_NULL));
    }
  }

  const Place& place_;
  std::int64_t max_bytes_;
  std::vector<MPI_Request> requests_;
  std::vector<Rank> peers_;  // of each request
  std::vector<int> completed_;
};

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(MpiOptions options)
      : options_(std::move(options)),
        pending_{MpiPending(place_, options_.max_message_bytes),
                 MpiPending(place_, options_.max_message_bytes)} {
    ATOLL_CHECK(options_.max_message_bytes >= 1 && options_.max_message_bytes <= INT_MAX, "{} bytes",
                options_.max_message_bytes);
  }

  /// "Funneled": the thread that initialises MPI is the one that calls it.
  void open() override {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread", place_);
    if (provided < MPI_THREAD_FUNNELED)
      fail("this MPI library supports no threads (MPI_THREAD_FUNNELED); install one built with threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &place_.rank), "MPI_Comm_rank", place_);
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size", place_);
    for (MpiPending& pending : pending_) {
      check(MPI_Comm_dup(MPI_COMM_WORLD, &pending.comm), "MPI_Comm_dup", place_);
      MPI_Comm_set_errhandler(pending.comm, MPI_ERRORS_RETURN);
    }
    gather_hosts();
  }

  /// Disorderly, MPI is left as it is: mpirun sees a process end without MPI_Finalize and stops the others.
  void close(bool orderly) override {
    if (!orderly) return;
    for (MpiPending& pending : pending_) MPI_Comm_free(&pending.comm);
    MPI_Finalize();
  }

  /// MPI moves bytes within calls to it alone, and there will be none.
  void abandon() override {}

  Rank rank() const override { return place_.rank; }
  int size() const override { return size_; }
  const std::string& host(Rank rank) const override { return place_.hosts[std::size_t(rank)]; }
  const char* name() const override { return "mpi"; }

  Pending& start(Lane lane, std::span<const Message> sends, std::span<const Message> receives) override {
    MpiPending& pending = pending_[std::size_t(lane)];
    pending.start(sends, receives);
    return pending;
  }

 private:
  void gather_hosts() {
    constexpr int kLength = 256;
    static_assert(kLength >= MPI_MAX_PROCESSOR_NAME);
    std::array<char, kLength> mine{};
    int length = 0;
    check(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name", place_);
    if (!options_.host.empty()) {
      mine.fill('\0');
      options_.host.copy(mine.data(), kLength - 1);
    }
    std::vector<char> all(std::size_t(size_) * kLength);
    check(MPI_Allgather(mine.data(), kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, MPI_COMM_WORLD),
          "MPI_Allgather", place_);
    for (int r = 0; r < size_; ++r) place_.hosts.emplace_back(&all[std::size_t(r) * kLength]);
  }

  MpiOptions options_;
  Place place_;
  int size_ = 1;
  MpiPending pending_[kLanes];
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiOptions options) {
  prefer_fragments();  // read by MPI_Init; here no other thread asks for the environment
  return std::make_unique<MpiTransport>(std::move(options));
}

}  // namespace atl
