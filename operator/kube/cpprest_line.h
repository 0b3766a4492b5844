// One http_client of cpprestsdk, used by one request at a time: the library's callbacks don't say which
// request they belong to, so there must be only one. Only this file uses the library.
#pragma once

#include <memory>
#include <string>

#include "operator/kube/exchange.h"
#include "operator/kube/transport.h"

namespace atl::kube {

/// The server, and how to reach and trust it: shared by all connections.
struct Peer {
  std::string address;     // "https://10.96.0.1:443", "https://[fd00::1]:443"
  std::string authority;   // "10.96.0.1:443", "[fd00::1]:443"
  std::string host;        // its name or address, without brackets
  std::string reached_at;  // `address` in the library's form: an IPv6 address without its brackets
  int family = 0;  // AF_INET or AF_INET6 where the server is given by address: then its socket can be opened,
                   // and watched, before the library connects it
  bool is_secure = false;
  CredentialSource credentials;
};

class CpprestLine {
 public:
  explicit CpprestLine(const Peer& peer);
  ~CpprestLine();

  /// Whether it may carry another request: its connection is young and, as far as we know, open.
  bool is_usable() const;
  std::shared_ptr<HandshakeLog> log() const;

  /// Starts the request; the library's threads report to `exchange`. `until_done` is released when the
  /// library no longer uses the connection. Throws TransportError without sending anything.
  void send(const Request& request, const std::shared_ptr<Exchange>& exchange,
            std::shared_ptr<void> until_done);

 private:
  struct Hooks;
  struct Client;
  const std::shared_ptr<Hooks> hooks_;
  const std::unique_ptr<Client> client_;
};

}  // namespace atl::kube
