#include "plan/socket_work.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace atl {

SocketWork::SocketWork() : piece_(64 << 10) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0)
    fail("no socket to send through: {}", std::strerror(errno));
}

SocketWork::~SocketWork() {
  for (const int end : ends_) close(end);
}

/// A piece is shorter than what a socket holds, so neither call waits.
void SocketWork::carry(std::int64_t bytes) {
  while (bytes > 0) {
    const auto size = std::size_t(std::min<std::int64_t>(bytes, std::int64_t(piece_.size())));
    const ssize_t sent = write(ends_[0], piece_.data(), size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("a socket of this process takes nothing: {}", std::strerror(errno));
    bytes -= sent;
    for (ssize_t left = sent; left > 0;) {
      const ssize_t got = read(ends_[1], piece_.data(), std::size_t(left));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("a socket of this process gives nothing: {}", std::strerror(errno));
      left -= got;
    }
  }
}

}  // namespace atl
