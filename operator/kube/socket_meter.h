// What a connection that belongs to an HTTP library has brought so far, seen from beside it: libraries bound neither
// headers nor chunks, so we count what they take from the kernel.
#pragma once

#include <atomic>
#include <cstdint>

namespace atl::kube {

/// Holds a duplicate of a socket's descriptor, which stays valid whatever its owner does. Thread-safe.
class SocketMeter {
 public:
  explicit SocketMeter(int socket);
  ~SocketMeter();
  SocketMeter(const SocketMeter&) = delete;
  SocketMeter& operator=(const SocketMeter&) = delete;

  /// Starts counting anew.
  void mark() { marked_ = taken(); }
  /// Bytes that the socket's owner has read since then, TLS and HTTP's framing included.
  std::uint64_t since_mark() const;
  /// No peer and nothing to read: the connection can carry no further request.
  bool is_closed() const;

 private:
  std::uint64_t taken() const;

  const int socket_;
  std::atomic<std::uint64_t> marked_ = 0;
};

/// Has the kernel notice a peer that is gone within a minute, data under way or not.
void watch_for_lost_peer(int socket);

}  // namespace atl::kube
