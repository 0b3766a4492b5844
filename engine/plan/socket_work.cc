#include "plan/socket_work.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 64 << 10;  // bytes: less than a connection holds, so that no call waits
constexpr std::size_t kRows = 4 << 20;    // bytes: more than a core's caches hold, as rows on their way are
constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC;

/// `result`, or the end.
int made(int result) {
  if (result < 0) fail("no connection to 127.0.0.1 to try sending through: {}", std::strerror(errno));
  return result;
}

struct Listener {
  int socket = made(::socket(AF_INET, kType, 0));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    made(bind(socket, get(), size));
    made(listen(socket, 1));
    made(getsockname(socket, get(), &size));
  }
  ~Listener() { close(socket); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address); }
};

}  // namespace

SocketWork::SocketWork() : rows_(kRows), piece_(kPiece) {
  Listener listener;
  out_ = made(socket(AF_INET, kType, 0));
  made(connect(out_, listener.get(), listener.size));
  in_ = made(accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC));
  const int at_once = 1;
  made(setsockopt(out_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once));
}

SocketWork::~SocketWork() {
  close(out_);
  close(in_);
}

/// From rows to a piece of the library's, and from there to rows.
void SocketWork::carry(std::int64_t bytes) {
  while (bytes > 0) {
    const auto size = std::size_t(std::min<std::int64_t>(bytes, std::int64_t(kPiece)));
    if (at_ + size > rows_.size()) at_ = 0;
    const ssize_t sent = write(out_, &rows_[at_], size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("this process's connection to itself takes nothing: {}", std::strerror(errno));
    for (ssize_t arrived = 0; arrived < sent;) {
      const ssize_t got = read(in_, &piece_[std::size_t(arrived)], std::size_t(sent - arrived));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("this process's connection to itself gives nothing: {}", std::strerror(errno));
      arrived += got;
    }
    std::memcpy(&rows_[at_], piece_.data(), std::size_t(sent));
    at_ += std::size_t(sent);
    bytes -= sent;
  }
}

}  // namespace atl
