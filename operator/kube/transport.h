// HTTP as the operator needs it: a small interface that any HTTP library can implement. An implementation
// must fulfil what is written here, and pass tests/unit/operator_kube/transport_test.cc.
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

/// Bounds on what a server can make us store, in bytes.
struct Limits {
  std::size_t headers = 64 << 10;  // names and values of a response, together
  std::size_t body = 8 << 20;      // of a response that call() collects
  std::size_t piece = 32 << 20;    // what one chunk of a Stream may hold, give or take 1 MiB
};

struct Request {
  std::string method = "GET";
  std::string target;             // path and query, percent-encoded, from its '/' on
  Headers headers;                // beside Host, User-Agent, Authorization, Content-Length
  std::string body;               // none where it is empty
  Milliseconds deadline{30'000};  // until the whole answer is here (call), or its headers are (open); > 0
  Limits limits;
  std::stop_token stop;  // ends the request at any moment, from any thread: kCancelled
};

/// A server's answer, whatever its status: 404 or 500 is no error of transport.
struct Head {
  int status = 0;
  Headers headers;

  /// The first header of that name, in any case of letters; "" where there is none.
  const std::string& header(std::string_view name) const;
};

struct Response {
  Head head;
  std::string body;
};

/// No answer, or half of one.
class TransportError : public Error {
 public:
  enum class Kind {
    kConnect,    // no connection: the server has seen nothing of the request
    kTls,        // no trust on one of the sides: the server has not acted on the request
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

/// A body as it arrives. While nobody reads, the server is held back: at most one piece waits in memory. Used
/// by one thread at a time, except cancel(). May outlive its Transport. Destroying it ends the exchange.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual const Head& head() const = 0;
  /// Waits at most `idle` for some of the body, and copies up to `size` bytes; 0: the body ended as it
  /// should. Throws TransportError. After kTimeout the stream is unchanged and can be read on; after any
  /// other kind, every read throws the same again.
  virtual std::size_t read(char* into, std::size_t size, Milliseconds idle) = 0;
  /// Makes a read in any thread throw kCancelled within 100 ms, and any later one. From any thread, at any
  /// time.
  virtual void cancel() = 0;
};

/// Reads the rest of a stream, within `within` from now. Throws TransportError; kTooLarge for more than
/// `limit` bytes.
Response collect(Stream& stream, std::size_t limit, Milliseconds within);

/// Connections to one server. Any number of threads may call any of it.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Sends the request and waits for the answer's headers. Never follows a redirect. Throws TransportError.
  virtual std::unique_ptr<Stream> open(const Request& request) = 0;
  /// Opens, and waits for the body. Throws TransportError.
  Response call(const Request& request);
};

/// Who we are and whom we trust, as PEM texts; "": we have none.
struct Credentials {
  std::string ca;                // the only authorities that we trust; https without one is refused
  std::string certificate, key;  // ours, the leaf first
  std::string token;             // Authorization: Bearer …
};

/// Called before every request and every TLS handshake, from any thread; an exception fails the request
/// (kTls).
using CredentialSource = std::function<std::shared_ptr<const Credentials>()>;

// The target of a request to the API: the path of a resource or an object, and a query.

/// A kind of objects, named as in the API's paths: {"apps", "v1", "deployments"}, {"", "v1", "pods"}.
struct Resource {
  std::string group, version, plural;

  /// The path of all objects, of those in a namespace, or of one; cluster-wide kinds have no namespace.
  std::string path(std::string_view space = {}, std::string_view name = {}) const;
};

/// Adds `name=value` to a target's query, percent-encoded; nothing where the value is "".
void add_query(std::string& target, std::string_view name, std::string_view value);

/// The transport that the operator uses, on cpprestsdk (cpprest_transport.cc).
/// `server`: "https://10.96.0.1:443", "https://[fd00::1]:443" or "http://…", without a path. Connections are
/// kept for later requests, for at most five minutes. Throws Error where it isn't such an address.
std::unique_ptr<Transport> cpprest_transport(const std::string& server, CredentialSource credentials);

}  // namespace atl::kube
