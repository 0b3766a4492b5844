// A small HTTP server for a few fixed paths, on civetweb (the server inside prometheus-cpp's own Exposer,
// which answers for metrics alone).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace atl {

struct HttpPage {
  const char* content_type;
  std::string body;
};

/// Answers GET and HEAD from threads of its own until destroyed; those sleep while nobody asks.
class HttpEndpoint {
 public:
  /// A page is made anew for each request, possibly by several threads at once.
  using Pages = std::map<std::string, std::function<HttpPage()>>;  // path → page

  /// `port` 0: any free one. Throws Error naming address, cause and remedy when it can't listen there.
  HttpEndpoint(const std::string& host, int port, Pages pages);
  ~HttpEndpoint();

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
