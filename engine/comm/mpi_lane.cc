#include "comm/mpi_lane.h"

#define OMPI_SKIP_MPICXX 1  // Open MPI's C++ bindings: seconds to compile, unused
#include <mpi.h>

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

constexpr int kTag = 1, kWordTag = 2;
// The most pieces on their way to a peer, and the most receives posted from a peer.
constexpr int kSentAtOnce = 4, kAwaitedAtOnce = 64;

std::string named(Rank rank, const MpiPlace& place) {
  const bool known = std::size_t(rank) < place.hosts.size();
  return fmt::format("rank {} ({})", rank, known ? place.hosts[std::size_t(rank)] : "host unknown");
}

}  // namespace

void check_mpi(int code, const char* call, const MpiPlace& place, std::optional<Rank> peer) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  const std::string of_whom = peer ? ", for a message from or to " + named(*peer, place) : "";
  fail("{} failed on {}{}: {}", call, named(place.rank, place), of_whom, text);
}

struct MpiLane::Shared {
  const MpiPlace& place;
  Options options;
  Turns sends, receives;
  MPI_Comm comm = MPI_COMM_NULL;
  bool held = false;
};

class MpiLane::Group : public Pending {
 public:
  explicit Group(Shared& lane) : lane_(lane) {}

  /// Posts receives first, so that arriving messages find their memory. Both sides post pieces in the same
  /// order.
  void start(std::span<const Message> sends, std::span<const Message> receives) {
    streams_.clear(), requests_.clear(), stream_of_.clear();
    moved_ = 0;
    for (const Message& m : receives) add(m, false);
    for (const Message& m : sends) add(m, true);
    completed_.resize(requests_.size());
    statuses_.resize(requests_.size());
    for (const Stream& stream : streams_)
      if (stream.sent && stream.asks) post_word(stream);
    post_due();
  }

  /// Tests and posts pieces until none completes, or none can be posted.
  bool done() override {
    int count = 1;
    while (count > 0 && !streams_.empty()) {
      const int code =
          MPI_Testsome(int(requests_.size()), requests_.data(), &count, completed_.data(), statuses_.data());
      check_completed(code, count);
      for (int i = 0; i < count; ++i) finish(std::size_t(completed_[std::size_t(i)]));
      if (!post_due()) break;
    }
    return std::ranges::all_of(streams_, &Stream::done);
  }

  std::vector<Rank> outstanding() const override {
    std::vector<Rank> ranks;
    for (const Stream& stream : streams_)
      if (!stream.done()) ranks.push_back(stream.message.peer);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  std::int64_t moved() const override { return moved_; }

  std::int64_t unsent() const {
    std::int64_t count = 0;
    for (const Stream& stream : streams_)
      if (stream.sent) count += stream.pieces - stream.finished;
    return count;
  }

 private:
  /// A message on its way, piece by piece.
  struct Stream {
    Message message;
    bool sent = false;       // otherwise the message is received
    bool asks = false;       // still waits until the receiver says that it is ready
    std::int64_t piece = 0;  // bytes
    std::int64_t pieces = 0, posted = 0, finished = 0;
    std::int64_t turn = 0;            // number of the first piece's turn
    std::size_t word = 0;             // index of the request of the receiver's word
    std::size_t first = 0, ring = 0;  // begin and size of the ring of requests that pieces use
    bool done() const { return finished == pieces && !asks; }
  };

  Turns& turns(const Stream& s) { return s.sent ? lane_.sends : lane_.receives; }

  std::int64_t piece_bytes(Rank peer) const {
    const auto& [rank, hosts] = lane_.place;
    const bool near = hosts[std::size_t(peer)] == hosts[std::size_t(rank)];
    return near ? lane_.options.near_piece_bytes : lane_.options.piece_bytes;
  }

  void add(const Message& m, bool sent) {
    const std::int64_t piece = piece_bytes(m.peer), pieces = (m.bytes + piece - 1) / piece;
    Stream& s = streams_.emplace_back(Stream{m, sent, lane_.options.asks && pieces > 1, piece, pieces});
    s.turn = turns(s).draw(m.peer, pieces);
    s.word = requests_.size();
    s.first = s.word + (s.asks ? 1 : 0);
    s.ring = std::size_t(std::min<std::int64_t>(pieces, sent ? kSentAtOnce : kAwaitedAtOnce));
    requests_.resize(s.first + s.ring, MPI_REQUEST_NULL);
    stream_of_.resize(requests_.size(), streams_.size() - 1);
  }

  void post(std::size_t request, const Message& m, bool sent, int tag) {
    MPI_Request* const r = &requests_[request];
    const int bytes = int(m.bytes);
    if (sent)
      check_mpi(MPI_Isend(m.data, bytes, MPI_BYTE, m.peer, tag, lane_.comm, r), "MPI_Isend", lane_.place,
                m.peer);
    else
      check_mpi(MPI_Irecv(m.data, bytes, MPI_BYTE, m.peer, tag, lane_.comm, r), "MPI_Irecv", lane_.place,
                m.peer);
  }

  void post_word(const Stream& s) { post(s.word, {s.message.peer, nullptr, 0}, !s.sent, kWordTag); }

  /// Posts every send that may leave and every receive that is due. True if there was any.
  bool post_due() {
    bool any = false;
    for (Stream& s : streams_)
      while (may_post(s)) {
        const std::int64_t at = s.posted * s.piece;
        const Message m{s.message.peer, s.message.data + at, std::min(s.piece, s.message.bytes - at)};
        post(s.first + std::size_t(s.posted) % s.ring, m, s.sent, kTag);
        if (!s.sent && s.asks && s.posted == 0) post_word(s);
        turns(s).go(m.peer);
        ++s.posted;
        any = true;
      }
    return any;
  }

  bool may_post(const Stream& s) {
    if (s.posted == s.pieces || !turns(s).is_up(s.message.peer, s.turn + s.posted)) return false;
    if (requests_[s.first + std::size_t(s.posted) % s.ring] != MPI_REQUEST_NULL) return false;
    return !s.sent || (!s.asks && !lane_.held);
  }

  /// Throws if a call failed. The call's own code says only that some message failed, so the failed message's
  /// code is reported.
  void check_completed(int code, int count) {
    for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; ++i) {
      const Stream& stream = streams_[stream_of_[std::size_t(completed_[std::size_t(i)])]];
      check_mpi(statuses_[std::size_t(i)].MPI_ERROR, "MPI_Testsome", lane_.place, stream.message.peer);
    }
    check_mpi(code, "MPI_Testsome", lane_.place);
  }

  void finish(std::size_t request) {
    Stream& s = streams_[stream_of_[request]];
    ++moved_;
    if (request < s.first) {
      s.asks = false;
      return;
    }
    ++s.finished;
    turns(s).arrive(s.message.peer);
  }

  Shared& lane_;
  std::vector<Stream> streams_;
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> stream_of_;  // the stream of each request
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;  // of the completed requests
  std::int64_t moved_ = 0;            // completed pieces, and words of receivers
};

MpiLane::MpiLane(const MpiPlace& place, int ranks, const Options& options)
    : shared_(std::make_unique<Shared>(
          Shared{place, options, Turns(ranks, kSentAtOnce), Turns(ranks, kAwaitedAtOnce)})),
      groups_(std::size_t(options.slots), Group(*shared_)) {
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &shared_->comm), "MPI_Comm_dup", place);
  MPI_Comm_set_errhandler(shared_->comm, MPI_ERRORS_RETURN);
}

MpiLane::~MpiLane() = default;

void MpiLane::close() {
  MPI_Comm_free(&shared_->comm);
}

Pending& MpiLane::start(int slot, std::span<const Message> sends, std::span<const Message> receives) {
  Group& group = groups_[std::size_t(slot)];
  group.start(sends, receives);
  return group;
}

std::int64_t MpiLane::unsent() const {
  std::int64_t count = 0;
  for (const Group& group : groups_) count += group.unsent();
  return count;
}

void MpiLane::hold(bool held) {
  shared_->held = held;
}

}  // namespace atl
