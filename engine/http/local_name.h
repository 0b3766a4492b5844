// An endpoint that has a name in place of an address: processes of one machine, or of one pod, reach each other by it. Names
// belong to the network namespace and vanish with the process that listens (Linux: abstract Unix sockets).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace atl {

struct LocalName {
  std::string text;  // at most 107 bytes
};

/// The name as the system takes it.
struct LocalAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit LocalAddress(const LocalName& name);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

}  // namespace atl
