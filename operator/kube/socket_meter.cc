#include "operator/kube/socket_meter.h"

#include <fcntl.h>
#include <linux/tcp.h>  // the kernel's own tcp_info: glibc's lacks the byte counts
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace atl::kube {

SocketMeter::SocketMeter(int socket) : socket_(fcntl(socket, F_DUPFD_CLOEXEC, 0)) {
  mark();
}

SocketMeter::~SocketMeter() {
  if (socket_ >= 0) close(socket_);
}

std::uint64_t SocketMeter::since_mark() const {
  const std::uint64_t now = taken(), then = marked_;
  return now > then ? now - then : 0;
}

std::uint64_t SocketMeter::taken() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  int waiting = 0;
  if (ioctl(socket_, FIONREAD, &waiting) != 0) waiting = 0;
  if (getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  const auto queued = std::uint64_t(waiting);
  return info.tcpi_bytes_received > queued ? info.tcpi_bytes_received - queued : 0;
}

bool SocketMeter::is_closed() const {
  char byte;
  const auto seen = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);  // unasked data: not ours to answer
}

void watch_for_lost_peer(int socket) {
  const auto set = [socket](int level, int name, int value) {
    setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);  // milliseconds
}

}  // namespace atl::kube
