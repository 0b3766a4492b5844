// Our demands on TLS, set on OpenSSL's context, which HTTP libraries hand out: version 1.2 or later, only our
// own authorities, and a check of the server's name. Also why a handshake failed, which the libraries don't
// tell.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "operator/kube/transport.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace atl::kube {

/// How far the handshakes of a connection have come, one at a time. Thread-safe.
class HandshakeLog {
 public:
  void reset();
  void start() { started_ = true; }
  void complain(const std::string& problem);  // the first one counts
  bool started() const { return started_; }
  std::string problem() const;  // "" while there is none

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> started_ = false;
  std::string problem_;
};

/// Prepares a client's context for one server, a name or an address. `log` must outlive the context and its
/// connections. Throws Error where a PEM text can't be used, or no authority is given.
void prepare_tls(ssl_ctx_st* context, const Credentials& credentials, const std::string& server,
                 HandshakeLog* log);

}  // namespace atl::kube
