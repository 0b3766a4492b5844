#include "comm/mpi_transport.h"

#define OMPI_SKIP_MPICXX 1  // Open MPI's C++ bindings: seconds to compile, unused
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/turns.h"

namespace atl {
namespace {

constexpr int kTag = 1;

/// Where this process stands in the job, for error messages.
struct Place {
  Rank rank = 0;
  std::vector<std::string> hosts;  // by rank; empty before they are known
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

/// What a link between servers carries both ways at once, and small messages beside bulk. By default Open MPI
/// has a receiver ask for each long message's bytes ("put"). That request stands in the receiver's socket behind
/// the bulk that it sends itself, so that two ranks which exchange rows mostly send one after the other, at half
/// of the link's rate, and a sum that is started meanwhile waits for the whole of a message. Sent in fragments,
/// and with little room before the wire, bulk lets others pass: beside an exchange a sum takes 24 ms at
/// 200 Mbit/s and 4 ms at 1 Gbit/s (tests/e2e/rig). Room for 512 KiB (the kernel doubles it) is enough for
/// 10 Gbit/s up to 0.4 ms. Who has set a parameter keeps it.
void prefer_fragments() {
  for (const auto& [name, value] :
       {std::pair("OMPI_MCA_btl_tcp_flags", "send,inplace"),
        std::pair("OMPI_MCA_btl_tcp_max_send_size", "65536"), std::pair("OMPI_MCA_btl_tcp_sndbuf", "262144")})
    setenv(name, value, 0);
}

class MpiPending : public Pending {
 public:
  /// `place` and `turns`, of the lane, outlive it. Messages are split into pieces of `max_bytes` at most.
  MpiPending(const Place& place, std::int64_t max_bytes, MPI_Comm comm, Turns& turns)
      : place_(place), max_bytes_(max_bytes), comm_(comm), turns_(turns) {}

  /// Receives first, so that what arrives finds its buffer. Both sides split a message at the same places.
  void start(std::span<const Message> sends, std::span<const Message> receives);
  bool done() override;
  std::vector<Rank> outstanding() const override;

 private:
  struct Piece {
    Message message;
    bool sent = false;   // and not received
    bool waits = false;  // for its turn
    std::int64_t turn = 0;
  };

  void split(const Message& message, bool sent);
  void receive(std::size_t i);
  void send_due();
  void pass_turns(int count);

  const Place& place_;
  std::int64_t max_bytes_;
  MPI_Comm comm_;
  Turns& turns_;
  std::vector<Piece> pieces_;
  std::vector<MPI_Request> requests_;  // of each piece
  std::vector<int> completed_;
  int waiting_ = 0;  // pieces that wait for their turns
};

void MpiPending::start(std::span<const Message> sends, std::span<const Message> receives) {
  pieces_.clear();
  for (const Message& message : receives) split(message, false);
  for (const Message& message : sends) split(message, true);
  requests_.assign(pieces_.size(), MPI_REQUEST_NULL);
  completed_.resize(pieces_.size());
  waiting_ = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].sent)
      ++waiting_;
    else
      receive(i);
  }
  send_due();
}

/// Looks again where what has left makes room for what waits for its turn.
bool MpiPending::done() {
  bool again = true;
  while (again) {
    send_due();
    int count = 0;
    const int code =
        MPI_Testsome(int(requests_.size()), requests_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE);
    check(code, "MPI_Testsome", place_);
    pass_turns(count);
    again = count > 0 && waiting_ > 0;
  }
  return waiting_ == 0 &&
         std::all_of(requests_.begin(), requests_.end(), [](MPI_Request r) { return r == MPI_REQUEST_NULL; });
}

std::vector<Rank> MpiPending::outstanding() const {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    if (requests_[i] != MPI_REQUEST_NULL || pieces_[i].waits) ranks.push_back(pieces_[i].message.peer);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void MpiPending::split(const Message& message, bool sent) {
  for (std::int64_t at = 0; at < message.bytes; at += max_bytes_) {
    const Message piece{message.peer, message.data + at, std::min(max_bytes_, message.bytes - at)};
    pieces_.push_back({piece, sent, sent, sent ? turns_.draw(message.peer) : 0});
  }
}

void MpiPending::receive(std::size_t i) {
  const Message& m = pieces_[i].message;
  check(MPI_Irecv(m.data, int(m.bytes), MPI_BYTE, m.peer, kTag, comm_, &requests_[i]), "MPI_Irecv", place_);
}

/// Whatever may leave now.
void MpiPending::send_due() {
  if (waiting_ == 0) return;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    const Message& m = piece.message;
    if (!piece.waits || !turns_.is_up(m.peer, piece.turn)) continue;
    piece.waits = false;
    --waiting_;
    check(MPI_Isend(m.data, int(m.bytes), MPI_BYTE, m.peer, kTag, comm_, &requests_[i]), "MPI_Isend", place_);
  }
}

/// Of what completed_ names; nothing where `count` is MPI_UNDEFINED, which is negative.
void MpiPending::pass_turns(int count) {
  for (int i = 0; i < count; ++i) {
    const Piece& piece = pieces_[std::size_t(completed_[std::size_t(i)])];
    if (piece.sent) turns_.pass(piece.message.peer);
  }
}

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(MpiOptions options) : options_(std::move(options)) {
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
    for (int l = 0; l < kLanes; ++l) {
      LaneGroups& lane = lanes_[std::size_t(l)];
      check(MPI_Comm_dup(MPI_COMM_WORLD, &lane.comm), "MPI_Comm_dup", place_);
      MPI_Comm_set_errhandler(lane.comm, MPI_ERRORS_RETURN);
      lane.turns = std::make_unique<Turns>(size_);
      for (int slot = 0; slot < slots_of(Lane(l)); ++slot)
        lane.groups.emplace_back(place_, options_.max_message_bytes, lane.comm, *lane.turns);
    }
    gather_hosts();
  }

  /// Disorderly, MPI is left as it is: mpirun sees a process end without MPI_Finalize and stops the others.
  void close(bool orderly) override {
    if (!orderly) return;
    for (LaneGroups& lane : lanes_) MPI_Comm_free(&lane.comm);
    MPI_Finalize();
  }

  /// MPI moves bytes within calls to it alone, and there will be none.
  void abandon() override {}

  Rank rank() const override { return place_.rank; }
  int size() const override { return size_; }
  const std::string& host(Rank rank) const override { return place_.hosts[std::size_t(rank)]; }
  const char* name() const override { return "mpi"; }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    MpiPending& group = lanes_[std::size_t(lane)].groups[std::size_t(slot)];
    group.start(sends, receives);
    return group;
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
  struct LaneGroups {
    MPI_Comm comm = MPI_COMM_NULL;
    std::unique_ptr<Turns> turns;
    std::vector<MpiPending> groups;  // by slot
  };
  std::array<LaneGroups, kLanes> lanes_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MpiOptions options) {
  prefer_fragments();  // read by MPI_Init; here no other thread asks for the environment
  return std::make_unique<MpiTransport>(std::move(options));
}

}  // namespace atl
