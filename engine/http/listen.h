// Listening sockets that don't block.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "http/local_name.h"

namespace atl {

/// `host`: a name or an address, an IPv6 one with or without brackets; "::" is every address of both families (of IPv4 alone
/// on a machine without IPv6). `port` 0: any free one. Throws Error naming address, cause and remedy.
Descriptor listen_at(const std::string& host, int port);

/// Throws Error where the name is taken.
Descriptor listen_at(const LocalName& name);

}  // namespace atl
