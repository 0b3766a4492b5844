// HTTP as the operator needs it: a small interface that any HTTP library can implement. An implementation
// must keep the contracts written here, and pass tests/unit/operator_kube/transport_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "operator/kube/clock.h"

namespace atl::kube {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// Limits on what a server can make us store, in bytes.
struct Limits {
  std::size_t headers = 64 << 10;  // names and values of a response, together
  std::size_t body = 8 << 20;      // in a response that call() collects
  std::size_t piece = 32 << 20;    // in one chunk of a Stream, give or take 1 MiB
};

struct Request {
  std::string method = "GET";
  std::string target;             // path and query, percent-encoded, beginning with '/'
  Headers headers;                // besides Host, User-Agent, Authorization, Content-Length
  std::string body;               // "": the request has no body
  Milliseconds deadline{30'000};  // for the whole answer (call), or for its headers (open); > 0
  Limits limits;
  std::stop_token stop;  // any thread may end the request with it at any moment: kCancelled
};

/// A server's answer, with any status: 404 or 500 is no transport error.
struct Head {
  int status = 0;
  Headers headers;

  /// The first header of that name, in upper or lower case; "" if there is none.
  const std::string& header(std::string_view name) const;
};

struct Response {
  Head head;
  std::string body;
};

/// There was no answer, or only half of one.
class TransportError : public Error {
 public:
  enum class Kind {
    kConnect,    // no connection: the server has seen nothing of the request
    kTls,        // one side doesn't trust the other: the server has not acted on the request
    kTimeout,    // the deadline passed: it may have acted
    kBroken,     // reset, closed early, or not HTTP: it may have acted
    kTooLarge,   // more than the limits
    kCancelled,  // stop or Stream::cancel
  };
  TransportError(Kind kind, const std::string& message) : Error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// A body as it arrives. While nobody reads, the server is held back, so at most one piece waits in memory.
/// One thread at a time may use it, but any thread may call cancel(). It may outlive its Transport.
/// Destroying it ends the exchange.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual const Head& head() const = 0;
  /// Waits at most `idle` for some of the body, and copies up to `size` bytes. Returns 0 when the body has
  /// ended as it should. Throws TransportError. After kTimeout, reading can go on; after any other kind,
  /// every read throws the same error again.
  virtual std::size_t read(char* into, std::size_t size, Milliseconds idle) = 0;
  /// Makes reads throw kCancelled: one that is under way within 100 ms, and all later ones. Any thread may
  /// call it at any time.
  virtual void cancel() = 0;
};

/// Reads the rest of a stream, for at most `within` from now. Throws TransportError, with kTooLarge if there
/// are more than `limit` bytes.
Response collect(Stream& stream, std::size_t limit, Milliseconds within);

/// Connections to one server. Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Sends the request and waits for the answer's headers. Never follows a redirect. Throws TransportError.
  virtual std::unique_ptr<Stream> open(const Request& request) = 0;
  /// Opens a stream and collects its body. Throws TransportError.
  Response call(const Request& request);
};

/// Our own credentials and the authorities that we trust, as PEM texts; "": none.
struct Credentials {
  std::string ca;                // the only authorities that we trust; https without one is refused
  std::string certificate, key;  // ours, the leaf first
  std::string token;             // Authorization: Bearer …
};

/// Called before every request and every TLS handshake, from any thread. If it throws, the request fails
/// (kTls).
using CredentialSource = std::function<std::shared_ptr<const Credentials>()>;

// The target of a request to the API: the path of a resource or an object, and a query.

/// A kind of objects, named as in the API's paths: {"apps", "v1", "deployments"}, {"", "v1", "pods"}.
struct Resource {
  std::string group, version, plural;

  /// The path of all objects of the kind, of those in a namespace, or of one object. Cluster-wide kinds have
  /// no namespace.
  std::string path(std::string_view space = {}, std::string_view name = {}) const;
};

/// Adds `name=value` to a target's query, percent-encoded. Does nothing if the value is "".
void add_query(std::string& target, std::string_view name, std::string_view value);

/// The transport that the operator uses, on cpprestsdk (cpprest_transport.cc). `server` is
/// "https://10.96.0.1:443", "https://[fd00::1]:443" or "http://…", without a path. Connections are kept for
/// later requests, for at most five minutes. Throws Error if `server` isn't such an address.
std::unique_ptr<Transport> cpprest_transport(const std::string& server, CredentialSource credentials);

}  // namespace atl::kube
