// Listening sockets that don't block, and asking other processes of this machine for a page.
#include "http/http_endpoint.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, kWaiting = 64;

[[noreturn]] void fail_to_listen(const std::string& host, int port, const char* cause) {
  fail(
      "metrics endpoint: cannot listen on {}:{}: {}; choose another port (0: any free one) and an address "
      "of this machine",
      host, port, cause);
}

/// Removes the brackets that an IPv6 address has where a port follows it.
std::string without_brackets(const std::string& host) {
  const bool has_both = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has_both ? host.substr(1, host.size() - 2) : host;
}

bool listens(const Descriptor& socket, const sockaddr* address, socklen_t size) {
  return ::bind(socket.get(), address, size) == 0 && ::listen(socket.get(), kWaiting) == 0;
}

}  // namespace

LocalAddress::LocalAddress(const LocalName& name) {
  // A first byte of 0 makes the name abstract, not a file's.
  ATOLL_CHECK(name.text.size() < sizeof address.sun_path, "a name of {} bytes", name.text.size());
  address.sun_family = AF_UNIX;
  std::ranges::copy(name.text, address.sun_path + 1);
  size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.text.size());
}

Descriptor listen_at(const std::string& host, int port) {
  const std::string address = without_brackets(host);
  addrinfo wanted{}, *resolved = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  if (const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &resolved))
    fail_to_listen(host, port, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(resolved, &::freeaddrinfo);
  const int yes = 1, no = 0;
  Descriptor listener(::socket(found->ai_family, kType, 0));
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (found->ai_family == AF_INET6) ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (listens(listener, found->ai_addr, found->ai_addrlen)) return listener;
  const bool has_no_ipv6 = errno == EBADF || errno == EADDRNOTAVAIL;  // EBADF: there is no such socket
  if (address == "::" && has_no_ipv6) return listen_at("0.0.0.0", port);
  fail_to_listen(host, port, std::strerror(errno));
}

Descriptor listen_at(const LocalName& name) {
  const LocalAddress address(name);
  Descriptor listener(::socket(AF_UNIX, kType, 0));
  if (!listens(listener, address.get(), address.size))
    fail(
        "metrics endpoint: cannot listen as '{}': {}; check that no rank of an earlier start still runs here",
        name.text, std::strerror(errno));
  return listener;
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLongestAnswer = 4 << 20;

/// One question and its answer as it arrives.
class Question {
 public:
  Question(const LocalName& name, const std::string& request)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const LocalAddress address(name);
    // The kernel takes the connection and the request at once or not at all, even while the other side
    // sleeps.
    const bool asked =
        ::connect(socket_.get(), address.get(), address.size) == 0 &&
        ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) == ssize_t(request.size());
    over_ = !asked;
  }

  bool over() const { return over_; }
  pollfd interest() const { return {over_ ? -1 : socket_.get(), POLLIN, 0}; }

  void receive() {
    char piece[16384];
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got > 0) answer_.append(piece, std::size_t(got));
    whole_ = got == 0;
    const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
    over_ = (got <= 0 && !waits) || answer_.size() > kLongestAnswer;
  }

  std::optional<std::string> page() const {
    const auto head_end = answer_.find("\r\n\r\n");
    if (!whole_ || head_end == std::string::npos || !answer_.starts_with("HTTP/1.1 200 ")) return {};
    const std::string page = answer_.substr(head_end + 4);
    const std::string length = "\r\nContent-Length: " + std::to_string(page.size()) + "\r\n";
    if (answer_.substr(0, head_end + 2).find(length) == std::string::npos) return {};  // the answer broke off
    return page;
  }

 private:
  Descriptor socket_;
  std::string answer_;
  bool over_ = false, whole_ = false;
};

}  // namespace

std::vector<std::optional<std::string>> ask_local(std::span<const LocalName> names, const std::string& path,
                                                  std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::vector<Question> questions;
  for (const LocalName& name : names) questions.emplace_back(name, "GET " + path + " HTTP/1.1\r\n\r\n");
  while (!std::ranges::all_of(questions, &Question::over)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    std::vector<pollfd> waiting;
    for (const Question& q : questions) waiting.push_back(q.interest());
    ::poll(waiting.data(), nfds_t(waiting.size()), int(left.count()));
    for (std::size_t i = 0; i < questions.size(); ++i)
      if (waiting[i].revents != 0) questions[i].receive();
  }
  std::vector<std::optional<std::string>> pages;
  for (const Question& q : questions) pages.push_back(q.page());
  return pages;
}

}  // namespace atl
