// Listening sockets that don't block.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace atl {

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

// Asking other processes of this machine for a page, all of them at once.

/// The page at `path` of each endpoint; nothing for an endpoint that is missing, answers with anything but
/// 200, or isn't done within `patience`. Takes no longer than `patience`, even if an endpoint hangs.
std::vector<std::optional<std::string>> ask_local(std::span<const LocalName> names, const std::string& path,
                                                  std::chrono::milliseconds patience);

}  // namespace atl
