#include "operator/kube/cpprest_transport.h"

#include <arpa/inet.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "operator/kube/cpprest_line.h"

namespace atl::kube {
namespace {

using Line = CpprestLine;
using Time = std::chrono::steady_clock;

constexpr std::size_t kIdleLines = 32;

/// Lines that wait for their next request.
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

/// Holds a line while it is in use and puts it back afterwards, where the answer came whole.
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

bool is_ipv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

Peer peer_of(const std::string& server, CredentialSource credentials) {
  const auto colon = server.find("://");
  const std::string scheme = server.substr(0, colon);
  const std::string authority = colon == std::string::npos ? "" : server.substr(colon + 3);
  const std::string host = authority.substr(0, authority.find(':'));
  const bool is_known = scheme == "https" || scheme == "http";
  if (authority.starts_with('['))
    fail("'{}' is an IPv6 address, which cpprestsdk doesn't connect to; give a name that stands for it",
         server);
  if (!is_known || host.empty() || authority.find_first_of("/?#@ ") != std::string::npos)
    fail("'{}' is not the address of a server; write https://HOST:PORT", server);
  return {server, host, is_ipv4(host), scheme == "https", std::move(credentials)};
}

}  // namespace

std::unique_ptr<Transport> cpprest_transport(const std::string& server, CredentialSource credentials) {
  return std::make_unique<CpprestTransport>(peer_of(server, std::move(credentials)));
}

}  // namespace atl::kube
