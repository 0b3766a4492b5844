// A small HTTP server for a few fixed paths. Atoll has its own because civetweb, which prometheus-cpp's
// Exposer uses, gives its threads 100 KiB of stack, of which the thread-local memory of METIS
// takes 88.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace atl {

// Listening sockets that don't block.

// An endpoint with a name instead of an address, by which processes of one machine or one pod reach each
// other. Names belong to the network namespace and vanish with the process that listens (Linux: abstract Unix
// sockets).

struct LocalName {
  std::string text;  // at most 107 bytes
};

/// The name as the system's socket address.
struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit LocalAddress(const LocalName& name);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// Listens at `host`, a name or an address, an IPv6 one with or without brackets; "::" is every address of
/// both families (of IPv4 alone on a machine without IPv6). `port` 0: any free one. Throws Error naming
/// address, cause and remedy.
Descriptor listen_at(const std::string& host, int port);

/// Listens under the name. Throws Error where the name is taken.
Descriptor listen_at(const LocalName& name);

// Asks other processes of this machine for a page, all of them at once.

/// The page at `path` of each endpoint; nothing for an endpoint that is missing, answers with anything but
/// 200, or isn't done within `patience`. Takes no longer than `patience`, even if an endpoint hangs.
std::vector<std::optional<std::string>> ask_local(std::span<const LocalName> names, const std::string& path,
                                                  std::chrono::milliseconds patience);

struct HttpPage {
  const char* content_type;
  std::string body;
};

/// Each request makes its page again, on the endpoint's thread.
using HttpPages = std::map<std::string, std::function<HttpPage()>>;  // path → page

/// The whole answer to a request of which at least the headers have arrived. Never throws: an exception of a
/// page becomes a 500 with its message.
std::string http_answer(const std::string& request, const HttpPages& pages);

/// Answers GET and HEAD from a thread of its own until destroyed; it sleeps while nobody asks. One connection
/// serves one request; slow or silent clients are dropped after ten seconds and hold up nobody else. If 64
/// clients are connected, the oldest that isn't being answered gives way to a new one.
class HttpEndpoint {
 public:
  /// `port` 0: any free one. Throws Error naming address, cause and remedy when it can't listen there.
  HttpEndpoint(const std::string& host, int port, HttpPages pages);
  /// Listens for processes of this machine alone. Throws Error where the name is taken.
  HttpEndpoint(const LocalName& name, HttpPages pages);
  ~HttpEndpoint();

  int port() const;  // only of an endpoint with an address

 private:
  struct State;
  explicit HttpEndpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace atl
