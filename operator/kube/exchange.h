// One request and its answer while they are under way. It connects the thread that waits for the answer, the
// HTTP library's threads that deliver it, and the connection that carries it. Whatever ends the exchange
// first decides what the waiting thread gets.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/transport.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace atl::kube {

// Our demands on TLS, which are set on OpenSSL's context; HTTP libraries give access to it. We demand version
// 1.2 or later, only our own authorities, and a check of the server's name. The code also finds out why a
// handshake failed, which the libraries don't tell.

/// How far a connection's handshakes have come. There is one handshake at a time. Thread-safe.
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

/// Prepares a client's context for one server, given by name or address. `log` must outlive the context and
/// its connections. Throws Error if a PEM text can't be used, or if no authority is given.
void prepare_tls(ssl_ctx_st* context, const Credentials& credentials, const std::string& server,
                 HandshakeLog* log);

// Hands a body from the HTTP library's threads, which must never wait, to the one thread that reads it. There
// is no buffer: a piece is offered in place, and is given back once it is read. Until then the library reads
// nothing more from the server.

/// Why an exchange has failed. Each thread that throws it throws its own copy.
struct Failure {
  TransportError::Kind kind;
  std::string why;

  [[noreturn]] void raise() const { throw TransportError(kind, why); }
};

/// Thread-safe. Only one offer may be made at a time, and only one read.
class Handoff {
 public:
  using Release = std::function<void(bool taken)>;
  using Time = std::chrono::steady_clock::time_point;

  /// Lends a piece until `release` is called, once, from any thread. Returns false if nobody wants the rest.
  void offer(std::string_view piece, Release release);
  /// The body has ended; no more pieces come.
  void finish();
  /// Copies some of the offered piece. Returns 0 at the end of the body, and nothing if `until` came first.
  /// Throws the failure, if there is one.
  std::optional<std::size_t> take(char* into, std::size_t size, Time until);
  /// Ends the body with a failure, because it broke off or nobody will read on. From now on reads throw, and
  /// pieces are given back unread. Only the first call counts, and only before the end of the body.
  void fail(Failure why);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view piece_;
  Release release_;  // empty if nothing is offered
  bool finished_ = false;
  std::optional<Failure> failure_;
};

// How much a connection of an HTTP library has received, seen from outside. Libraries limit neither headers
// nor chunks, so we count the bytes that they take from the kernel.

/// Holds a duplicate of a socket's descriptor, which stays valid even if the socket's owner closes its own.
/// Thread-safe.
class SocketMeter {
 public:
  explicit SocketMeter(int socket);
  ~SocketMeter();
  SocketMeter(const SocketMeter&) = delete;
  SocketMeter& operator=(const SocketMeter&) = delete;

  /// Starts the count of since_mark() at 0.
  void mark() { marked_ = taken(); }
  /// Bytes that the socket's owner has read since mark(), including TLS and HTTP framing.
  std::uint64_t since_mark() const;
  /// Whether the peer is gone and nothing is left to read. The connection then can't carry another request.
  bool is_closed() const;

 private:
  std::uint64_t taken() const;

  const int socket_;
  std::atomic<std::uint64_t> marked_ = 0;
};

/// Makes the kernel notice within a minute that a peer is gone, whether data is under way or not.
void watch_for_lost_peer(int socket);

/// Thread-safe.
class Exchange {
 public:
  using Time = std::chrono::steady_clock;
  using Kind = TransportError::Kind;

  /// Errors name `server`. `log` is that of the connection.
  Exchange(const Request& request, const std::string& server, std::shared_ptr<HandshakeLog> log);

  /// Sets how to make the library give up. Must be set before the request is sent.
  void on_abort(std::function<void()> abort) { abort_ = std::move(abort); }

  // The library's threads call these.
  void connected(std::shared_ptr<SocketMeter> meter);  // again if the connection is replaced
  void sent() { is_sent_ = true; }
  void answered(Head head);
  void offer(std::string_view piece, Handoff::Release release);
  void ended() { handoff_.finish(); }
  void failed(const std::string& why);  // finds the kind of failure from how far the exchange has come

  // The waiting thread calls these.
  const Head& wait_for_head(Time::time_point until);
  std::size_t read(char* into, std::size_t size, Time::time_point until);

  /// Ends the exchange with this error, unless it has ended already.
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

// One http_client of cpprestsdk. Only one request at a time may use it, because the library's callbacks don't
// say which request they belong to. Only cpprest_line.cc uses the library.

/// The server, and how to reach and trust it. All connections share it.
struct Peer {
  std::string address;     // "https://10.96.0.1:443", "https://[fd00::1]:443"
  std::string authority;   // "10.96.0.1:443", "[fd00::1]:443"
  std::string host;        // its name or address, without brackets
  std::string reached_at;  // `address` in the library's form: an IPv6 address without its brackets
  int family = 0;  // AF_INET or AF_INET6 where the server is given by address: then its socket can be opened,
                   // and watched, before the library connects it
  bool is_secure = false;
  CredentialSource credentials;
};

class CpprestLine {
 public:
  explicit CpprestLine(const Peer& peer);
  ~CpprestLine();

  /// Whether the line may carry another request: its connection is young and, as far as we know, open.
  bool is_usable() const;
  std::shared_ptr<HandshakeLog> log() const;

  /// Starts the request. The library's threads report to `exchange`. `until_done` is released when the
  /// library no longer uses the connection. Throws TransportError if nothing was sent.
  void send(const Request& request, const std::shared_ptr<Exchange>& exchange,
            std::shared_ptr<void> until_done);

 private:
  struct Hooks;
  struct Client;
  const std::shared_ptr<Hooks> hooks_;
  const std::unique_ptr<Client> client_;
};

}  // namespace atl::kube
