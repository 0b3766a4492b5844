// A small HTTP server for a few fixed paths. Atoll has its own because civetweb, which prometheus-cpp's
// Exposer uses, gives its threads 100 KiB of stack, of which the thread-local memory of METIS
// takes 88.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "http/listen.h"

namespace atl {

struct HttpPage {
  const char* content_type;
  std::string body;
};

/// Each request makes its page again, on the endpoint's thread.
using HttpPages = std::map<std::string, std::function<HttpPage()>>;  // path → page

/// The whole answer to a request of which at least the headers have arrived. Never throws: an exception of a
/// page becomes a 500 with its message.
std::string http_answer(const std::string& request, const HttpPages& pages);

/// Answers GET and HEAD from a thread of its own until destroyed; it sleeps while nobody asks. One connection
/// serves one request; slow or silent clients are dropped after ten seconds and hold up nobody else. Where 64
/// are connected, the oldest that isn't being answered gives way to a new one.
class HttpEndpoint {
 public:
  /// `port` 0: any free one. Throws Error naming address, cause and remedy when it can't listen there.
  HttpEndpoint(const std::string& host, int port, HttpPages pages);
  /// Listens for processes of this machine alone (http/listen.h). Throws Error where the name is taken.
  HttpEndpoint(const LocalName& name, HttpPages pages);
  ~HttpEndpoint();

  int port() const;  // only of an endpoint with an address

 private:
  struct State;
  explicit HttpEndpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace atl
