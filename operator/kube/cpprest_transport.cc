// A transport on cpprestsdk. The library sets no limits, so we set them. It reads on only once our reader has
// taken the previous piece of a body. Deadlines run on our clock. The socket is watched from outside for
// headers and chunks that exceed the limits. One gap remains: if the server is given by name and not by
// address, this watch doesn't see a connection's first request.
#include "operator/kube/transport.h"

#include <arpa/inet.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "operator/kube/exchange.h"

namespace atl::kube {
namespace {

using Line = CpprestLine;
using Time = std::chrono::steady_clock;

constexpr std::size_t kIdleLines = 32;

/// Lines that no request uses at present.
class IdleLines {
 public:
  std::unique_ptr<Line> take() {
    std::vector<std::unique_ptr<Line>> dead;  // destroyed after the lock is free
    std::lock_guard lock(mutex_);
    while (!lines_.empty()) {
      auto line = std::move(lines_.back());
      lines_.pop_back();
      if (line->is_usable()) return line;
      dead.push_back(std::move(line));
    }
    return nullptr;
  }
  void give(std::unique_ptr<Line> line) {
    std::lock_guard lock(mutex_);
    if (lines_.size() < kIdleLines) lines_.push_back(std::move(line));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> lines_;
};

/// Holds a line while it is in use, and puts it back afterwards if the answer came whole.
struct Use {
  std::unique_ptr<Line> line;
  std::weak_ptr<IdleLines> home;
  std::atomic<bool> is_whole = false;

  ~Use() {
    if (const auto lines = home.lock(); lines && is_whole) lines->give(std::move(line));
  }
};

class CpprestStream final : public Stream {
 public:
  CpprestStream(const Request& request, const Peer& peer, std::shared_ptr<Use> use)
      : use_(std::move(use)),
        exchange_(std::make_shared<Exchange>(request, peer.address, use_->line->log())) {
    const auto until = Time::now() + request.deadline;
    use_->line->send(request, exchange_, use_);
    stop_.emplace(request.stop, [exchange = exchange_] { give_up(*exchange); });
    head_ = exchange_->wait_for_head(until);
  }
  ~CpprestStream() override {
    stop_.reset();
    if (!is_over_) give_up(*exchange_);
  }

  const Head& head() const override { return head_; }
  std::size_t read(char* into, std::size_t size, Milliseconds idle) override {
    const std::size_t taken = exchange_->read(into, size, Time::now() + idle);
    if (taken == 0 && size > 0 && use_) {
      is_over_ = true;
      stop_.reset();
      use_->is_whole = true;
      use_.reset();
    }
    return taken;
  }
  void cancel() override { give_up(*exchange_); }

 private:
  static void give_up(Exchange& exchange) { exchange.give_up(Exchange::Kind::kCancelled, "given up"); }

  std::shared_ptr<Use> use_;
  const std::shared_ptr<Exchange> exchange_;
  std::optional<std::stop_callback<std::function<void()>>> stop_;
  Head head_;
  bool is_over_ = false;
};

class CpprestTransport final : public Transport {
 public:
  explicit CpprestTransport(Peer peer) : peer_(std::move(peer)) {}

  std::unique_ptr<Stream> open(const Request& request) override {
    auto line = idle_->take();
    if (!line) line = std::make_unique<Line>(peer_);
    auto use = std::make_shared<Use>();
    use->line = std::move(line);
    use->home = idle_;
    return std::make_unique<CpprestStream>(request, peer_, std::move(use));
  }

 private:
  const Peer peer_;
  const std::shared_ptr<IdleLines> idle_ = std::make_shared<IdleLines>();
};

int family_of(const std::string& host) {
  in6_addr address;
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, host.c_str(), &address) == 1) return family;
  return AF_UNSPEC;
}

[[noreturn]] void fail_address(const std::string& server) {
  fail(
      "'{}' is not the address of a server; write https://HOST:PORT, https://[IPV6]:PORT for an IPv6 address",
      server);
}

/// Adds the scheme's port to an address like "[fd00::1]" that has none, and removes the brackets. cpprestsdk
/// can't resolve a host in brackets. It reads "fd00::1:443" correctly, because it takes what precedes the
/// last colon as the host.
void read_ipv6(Peer& peer) {
  const auto end = peer.authority.find(']');
  peer.host = peer.authority.substr(1, end == std::string::npos ? end : end - 1);
  if (end == std::string::npos || family_of(peer.host) != AF_INET6) fail_address(peer.address);
  if (end + 1 == peer.authority.size()) peer.authority += peer.is_secure ? ":443" : ":80";
  const std::string port = peer.authority.substr(end + 1);
  if (port.size() < 2 || port[0] != ':' || port.find_first_not_of("0123456789", 1) != std::string::npos)
    fail_address(peer.address);
  peer.reached_at = (peer.is_secure ? "https://" : "http://") + peer.host + port;
}

Peer peer_of(const std::string& server, CredentialSource credentials) {
  const auto colon = server.find("://");
  const std::string scheme = server.substr(0, colon);
  const std::string authority = colon == std::string::npos ? "" : server.substr(colon + 3);
  const bool is_known = scheme == "https" || scheme == "http";
  Peer peer{.address = server,
            .authority = authority,
            .host = authority.substr(0, authority.find(':')),
            .reached_at = server,
            .is_secure = scheme == "https",
            .credentials = std::move(credentials)};
  if (!is_known || authority.find_first_of("/?#@% ") != std::string::npos) fail_address(server);
  if (authority.starts_with('[')) read_ipv6(peer);
  if (peer.host.empty()) fail_address(server);
  peer.family = family_of(peer.host);
  return peer;
}

}  // namespace

std::unique_ptr<Transport> cpprest_transport(const std::string& server, CredentialSource credentials) {
  return std::make_unique<CpprestTransport>(peer_of(server, std::move(credentials)));
}

}  // namespace atl::kube
