#include "http/listen.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

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

/// An IPv6 address is written in brackets where a port follows it.
std::string without_brackets(const std::string& host) {
  const bool has_both = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has_both ? host.substr(1, host.size() - 2) : host;
}

bool listens(const Descriptor& socket, const sockaddr* address, socklen_t size) {
  return ::bind(socket.get(), address, size) == 0 && ::listen(socket.get(), kWaiting) == 0;
}

}  // namespace

LocalAddress::LocalAddress(const LocalName& name) {
  // A first byte of 0 makes it a name that isn't a file's.
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

}  // namespace atl
