// One request and its answer while they are under way, between the thread that waits for it and the HTTP library's
// threads that bring it. Whatever ends it first decides what the waiting thread hears.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "operator/kube/handoff.h"
#include "operator/kube/socket_meter.h"
#include "operator/kube/tls.h"
#include "operator/kube/transport.h"

namespace atl::kube {

/// All of it may be called from any thread.
class Exchange {
 public:
  using Time = std::chrono::steady_clock;
  using Kind = TransportError::Kind;

  /// `server` is named in errors; `log` is the connection's.
  Exchange(const Request& request, const std::string& server, std::shared_ptr<HandshakeLog> log);

  /// How the library is told to give up; set before the request is sent.
  void on_abort(std::function<void()> abort) { abort_ = std::move(abort); }

  // From the library's threads.
  void connected(std::shared_ptr<SocketMeter> meter);  // anew where the connection is replaced
  void sent() { is_sent_ = true; }
  void answered(Head head);
  void offer(std::string_view piece, Handoff::Release release);
  void ended() { handoff_.finish(); }
  void failed(const std::string& why);  // says which kind of failure this is by how far the exchange came

  // From the thread that waits.
  const Head& wait_for_head(Time::time_point until);
  std::size_t read(char* into, std::size_t size, Time::time_point until);

  /// Ends it with this error, unless it has ended.
  void give_up(Kind kind, const std::string& why);

 private:
  void check_size();
  void end(Kind kind, const std::string& why);

  const std::string name_;  // "GET https://10.96.0.1:443/api/v1/pods"
  const Limits limits_;
  const std::shared_ptr<HandshakeLog> log_;
  std::function<void()> abort_;
  std::atomic<bool> is_sent_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Head> head_;
  std::optional<Failure> failure_;
  std::shared_ptr<SocketMeter> meter_;
  Handoff handoff_;
};

}  // namespace atl::kube
