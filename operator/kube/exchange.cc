#include "operator/kube/exchange.h"

#include <fcntl.h>
#include <linux/tcp.h>  // the kernel's own tcp_info: glibc's lacks the byte counts
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <utility>

namespace atl::kube {
namespace {

// How often the socket is checked. A server can exceed the limits only by what it sends between two checks.
constexpr Milliseconds kWatchHeaders{20}, kWatchBody{100};
// Bytes that a library may have read ahead without storing headers: certificates, a full buffer.
constexpr std::size_t kReadAhead = 256 << 10;

std::size_t size_of(const Headers& headers) {
  std::size_t size = 0;
  for (const auto& [name, value] : headers) size += name.size() + value.size();
  return size;
}

}  // namespace

Exchange::Exchange(const Request& request, const std::string& server, std::shared_ptr<HandshakeLog> log)
    : name_(fmt::format("{} {}{}", request.method, server, request.target)),
      limits_(request.limits),
      log_(std::move(log)) {}

void Exchange::connected(std::shared_ptr<SocketMeter> meter) {
  std::lock_guard lock(mutex_);
  meter_ = std::move(meter);
  if (meter_) meter_->mark();
}

void Exchange::answered(Head head) {
  if (size_of(head.headers) > limits_.headers) {
    return give_up(Kind::kTooLarge, fmt::format("headers of more than {} bytes", limits_.headers));
  }
  std::lock_guard lock(mutex_);
  head_ = std::move(head);
  changed_.notify_all();
}

void Exchange::offer(std::string_view piece, Handoff::Release release) {
  {
    std::lock_guard lock(mutex_);
    if (meter_) meter_->mark();
  }
  handoff_.offer(piece, std::move(release));
}

void Exchange::failed(const std::string& why) {
  const std::string problem = log_->problem();
  std::unique_lock lock(mutex_);
  const bool is_answered = head_.has_value();
  lock.unlock();
  if (!is_answered && !problem.empty()) return end(Kind::kTls, problem);
  if (is_sent_) return end(Kind::kBroken, why);
  end(log_->started() ? Kind::kTls : Kind::kConnect, why);
}

void Exchange::give_up(Kind kind, const std::string& why) {
  end(kind, why);
  abort_();
}

void Exchange::end(Kind kind, const std::string& why) {
  const Failure failure{kind, fmt::format("{}: {}", name_, why)};
  handoff_.fail(failure);
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  changed_.notify_all();
}

void Exchange::check_size() {
  std::unique_lock lock(mutex_);
  const std::size_t limit = (head_ ? limits_.piece : limits_.headers) + kReadAhead;
  const bool is_too_large = meter_ && meter_->since_mark() > limit;
  const char* what = head_ ? "a chunk" : "headers";
  lock.unlock();
  if (is_too_large)
    give_up(Kind::kTooLarge, fmt::format("{} of more than {} bytes", what, limit - kReadAhead));
}

const Head& Exchange::wait_for_head(Time::time_point until) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_until(lock, std::min(until, Time::now() + kWatchHeaders),
                              [this] { return head_ || failure_; })) {
    lock.unlock();
    check_size();
    if (Time::now() >= until) give_up(Kind::kTimeout, "no answer before the deadline");
    lock.lock();
  }
  if (head_) return *head_;
  failure_->raise();
}

std::size_t Exchange::read(char* into, std::size_t size, Time::time_point until) {
  for (;;) {
    const auto taken = handoff_.take(into, size, std::min(until, Time::now() + kWatchBody));
    if (taken) return *taken;
    check_size();
    if (Time::now() >= until)
      throw TransportError(Kind::kTimeout, fmt::format("{}: the server sends nothing", name_));
  }
}

void Handoff::offer(std::string_view piece, Release release) {
  {
    std::lock_guard lock(mutex_);
    if (!finished_ && !piece.empty()) {
      piece_ = piece;
      release_ = std::move(release);
      changed_.notify_all();
      return;
    }
  }
  release(piece.empty());
}

void Handoff::finish() {
  std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

std::optional<std::size_t> Handoff::take(char* into, std::size_t size, Time until) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, until, [&] { return release_ || finished_; })) return std::nullopt;
  if (failure_) failure_->raise();
  const std::size_t taken = std::min(size, piece_.size());
  std::copy_n(piece_.data(), taken, into);
  piece_.remove_prefix(taken);
  if (!piece_.empty() || !release_) return taken;
  const Release release = std::exchange(release_, nullptr);
  lock.unlock();
  release(true);
  return taken;
}

void Handoff::fail(Failure why) {
  Release release;
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    failure_ = std::move(why);
    release = std::exchange(release_, nullptr);
    piece_ = {};
    changed_.notify_all();
  }
  if (release) release(false);
}

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
  return seen >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);  // data that nobody asked for
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
