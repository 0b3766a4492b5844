// TLS as we insist on it, set on OpenSSL's own context, which HTTP libraries hand out: 1.2 or later, our own
// authorities alone, the server's name checked; and why a handshake failed, which they keep to themselves.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "operator/kube/transport.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace atl::kube {

/// How far the handshakes of one connection at a time have come. Thread-safe.
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
/// connections. Throws Error for a PEM text that can't be used, and where no authority is given.
void prepare_tls(ssl_ctx_st* context, const Credentials& credentials, const std::string& server,
                 HandshakeLog* log);

}  // namespace atl::kube
