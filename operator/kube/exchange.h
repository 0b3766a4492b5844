// One request and its answer while they are under way, between the thread that waits for it and the HTTP
// library's threads that bring it, and the connection that carries it. Whatever ends it first decides the
// waiting thread's result.
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

// Our demands on TLS, set on OpenSSL's context, which HTTP libraries hand out: version 1.2 or later, only our
// own authorities, and a check of the server's name. Also why a handshake failed, which the libraries don't
// tell.

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

// A body on its way from the HTTP library's threads, which must never wait, to the one thread that reads it.
// There is no buffer: a piece is offered in place and given back once it is read. A library that waits for
// that reads nothing more from the server.

/// Why an exchange has failed: an error that any number of threads may throw, each its own copy.
struct Failure {
  TransportError::Kind kind;
  std::string why;

  [[noreturn]] void raise() const { throw TransportError(kind, why); }
};

/// Any thread may call any of it; offers come one at a time, and so do reads.
class Handoff {
 public:
  using Release = std::function<void(bool taken)>;
  using Time = std::chrono::steady_clock::time_point;

  /// Lends a piece until `release` is called, once, from any thread; false: nobody wants the rest.
  void offer(std::string_view piece, Release release);
  /// The body has ended; no more pieces come.
  void finish();
  /// Copies some of what is offered. Returns 0 at the end of the body, nothing when `until` came first.
  /// Throws the failure.
  std::optional<std::size_t> take(char* into, std::size_t size, Time until);
  /// The body has failed, or nobody will read on: reads throw, and pieces are given back unread. The first
  /// call counts, and none after the end of the body.
  void fail(Failure why);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view piece_;
  Release release_;  // empty where nothing is offered
  bool finished_ = false;
  std::optional<Failure> failure_;
};

// What a connection of an HTTP library has brought so far, seen from outside. Libraries bound neither headers
// nor chunks, so we count the bytes that they take from the kernel.

/// Holds a duplicate of a socket's descriptor, which stays valid whatever its owner does. Thread-safe.
class SocketMeter {
 public:
  explicit SocketMeter(int socket);
  ~SocketMeter();
  SocketMeter(const SocketMeter&) = delete;
  SocketMeter& operator=(const SocketMeter&) = delete;

  /// Starts counting again.
  void mark() { marked_ = taken(); }
  /// Bytes that the socket's owner has read since mark(), including TLS and HTTP framing.
  std::uint64_t since_mark() const;
  /// Whether there is no peer and nothing to read, so that the connection can carry no further request.
  bool is_closed() const;

 private:
  std::uint64_t taken() const;

  const int socket_;
  std::atomic<std::uint64_t> marked_ = 0;
};

/// Makes the kernel notice within a minute that a peer is gone, whether data are under way or not.
void watch_for_lost_peer(int socket);

/// Any thread may call any of it.
class Exchange {
 public:
  using Time = std::chrono::steady_clock;
  using Kind = TransportError::Kind;

  /// Errors name `server`; `log` is the connection's.
  Exchange(const Request& request, const std::string& server, std::shared_ptr<HandshakeLog> log);

  /// How to make the library give up; set before the request is sent.
  void on_abort(std::function<void()> abort) { abort_ = std::move(abort); }

  // From the library's threads.
  void connected(std::shared_ptr<SocketMeter> meter);  // anew where the connection is replaced
  void sent() { is_sent_ = true; }
  void answered(Head head);
  void offer(std::string_view piece, Handoff::Release release);
  void ended() { handoff_.finish(); }
  void failed(const std::string& why);  // derives the kind of failure from how far the exchange came

  // From the thread that waits:
  const Head& wait_for_head(Time::time_point until);
  std::size_t read(char* into, std::size_t size, Time::time_point until);

  /// Ends the exchange with this error, unless it has ended.
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

// One http_client of cpprestsdk, used by one request at a time: the library's callbacks don't say which
// request they belong to, so there must be only one. Only cpprest_line.cc uses the library.

/// The server, and how to reach and trust it: shared by all connections.
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

  /// Whether it may carry another request: its connection is young and, as far as we know, open.
  bool is_usable() const;
  std::shared_ptr<HandshakeLog> log() const;

  /// Starts the request; the library's threads report to `exchange`. `until_done` is released when the
  /// library no longer uses the connection. Throws TransportError without sending anything.
  void send(const Request& request, const std::shared_ptr<Exchange>& exchange,
            std::shared_ptr<void> until_done);

 private:
  struct Hooks;
  struct Client;
  const std::shared_ptr<Hooks> hooks_;
  const std::unique_ptr<Client> client_;
};

}  // namespace atl::kube
