#include "plan/socket_work.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 64 << 10;  // bytes
constexpr int kRoom = 2 * kPiece;  // on each side, so that a piece is written without waiting for its reader
constexpr std::size_t kRows = 4 << 20;  // bytes: more than a core's caches hold, as rows on their way are
constexpr timeval kLongest{1, 0};
constexpr std::int64_t kTried = 16 << 20;  // bytes: enough to tell what one takes
constexpr double kLeast = 1e-6;            // seconds that they take

/// Of this thread's processor.
double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// `result`, or the end.
int done(int result) {
  if (result < 0) fail("can't measure sending: no connection to 127.0.0.1: {}", std::strerror(errno));
  return result;
}

/// Accepted ones inherit room and patience.
Descriptor new_socket() {
  Descriptor made(done(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  for (const int room : {SO_SNDBUF, SO_RCVBUF})
    done(::setsockopt(made.get(), SOL_SOCKET, room, &kRoom, sizeof kRoom));
  for (const int patience : {SO_SNDTIMEO, SO_RCVTIMEO})
    done(::setsockopt(made.get(), SOL_SOCKET, patience, &kLongest, sizeof kLongest));
  return made;
}

}  // namespace

SocketWork::Ends SocketWork::connected() {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  socklen_t size = sizeof any;
  const Descriptor listener = new_socket();
  done(::bind(listener.get(), address, size));
  done(::listen(listener.get(), 1));
  done(::getsockname(listener.get(), address, &size));
  Descriptor out = new_socket();
  done(::connect(out.get(), address, size));
  const int at_once = 1;
  done(::setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once));
  return {std::move(out), Descriptor(done(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)))};
}

SocketWork::SocketWork(double seconds_per_byte) : ends_(connected()), rows_(kRows), piece_(kPiece) {
  if (seconds_per_byte <= 0) return;
  pass(kTried);  // the first ones claim memory
  share_ = seconds_per_byte * double(kTried) / std::max(seconds_to_pass(kTried), kLeast);
}

double SocketWork::seconds_to_pass(std::int64_t bytes) {
  const double begin = thread_seconds();
  pass(bytes);
  return thread_seconds() - begin;
}

void SocketWork::carry(std::int64_t bytes) {
  owed_ += share_ * double(bytes);
  const auto whole = std::int64_t(owed_) / std::int64_t(kPiece) * std::int64_t(kPiece);
  owed_ -= double(whole);
  pass(whole);
}

/// From rows to a piece of the library's, and from there to rows.
void SocketWork::pass(std::int64_t bytes) {
  while (bytes > 0) {
    const auto size = std::size_t(std::min<std::int64_t>(bytes, std::int64_t(kPiece)));
    if (at_ + size > rows_.size()) at_ = 0;
    const ssize_t sent = ::write(ends_.out.get(), &rows_[at_], size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0)
      fail("can't measure sending: this process's connection to itself accepts no data: {}",
           std::strerror(errno));
    for (ssize_t arrived = 0; arrived < sent;) {
      const ssize_t got = ::read(ends_.in.get(), &piece_[std::size_t(arrived)], std::size_t(sent - arrived));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        fail("can't measure sending: this process's connection to itself delivers no data: {}",
             std::strerror(errno));
      arrived += got;
    }
    std::memcpy(&rows_[at_], piece_.data(), std::size_t(sent));
    at_ += std::size_t(sent);
    bytes -= sent;
  }
}

}  // namespace atl
