// A transport that counts what goes through it: rest_client_*.
#pragma once

#include <chrono>

#include "operator/kube/transport.h"
#include "operator/run/metrics.h"

namespace atl::ctl {

/// Both must outlive it.
class MeteredTransport final : public kube::Transport {
 public:
  MeteredTransport(kube::Transport& inner, Metrics& metrics) : inner_(inner), metrics_(metrics) {}

  std::unique_ptr<kube::Stream> open(const kube::Request& request) override {
    const auto begun = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    try {
      auto stream = inner_.open(request);
      metrics_.requested(request.method, stream->head().status, seconds());
      return stream;
    } catch (const kube::TransportError& error) {
      if (error.kind() != kube::TransportError::Kind::kCancelled)
        metrics_.requested(request.method, 0, seconds());
      throw;
    }
  }

 private:
  kube::Transport& inner_;
  Metrics& metrics_;
};

}  // namespace atl::ctl
