#include "operator/kube/exchange.h"

#include <algorithm>

namespace atl::kube {
namespace {

// How often the socket is looked at: what a server can send meanwhile is what it can have beyond the limits.
constexpr Milliseconds kWatchHeaders{20}, kWatchBody{100};
// What a library may have read ahead without keeping a word of it as headers: certificates, a buffer full.
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

}  // namespace atl::kube
