// Transport on cpprestsdk. The library bounds nothing by itself, so we do. The reader holds it back (a piece
// is given back once it is read), deadlines run on our clock, and the socket is watched from outside for
// headers and chunks beyond the limits. One gap remains: for a server given by name, not address, that watch
// begins with a connection's second request.
#pragma once

#include <memory>
#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

/// `server`: "https://10.96.0.1:443", "https://[fd00::1]:443" or "http://…", without a path. Connections are
/// kept for later requests, for at most five minutes. Throws Error where it isn't such an address.
std::unique_ptr<Transport> cpprest_transport(const std::string& server, CredentialSource credentials);

}  // namespace atl::kube
