#include "train/http_endpoint.h"

#include <civetweb.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace atl {
namespace {

int send(mg_connection* connection, const char* status, const HttpPage& page) {
  const bool head = std::strcmp(mg_get_request_info(connection)->request_method, "HEAD") == 0;
  const std::string header = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: "
      "close\r\n\r\n",
      status, page.content_type, page.body.size());
  mg_write(connection, header.data(), header.size());
  if (!head) mg_write(connection, page.body.data(), page.body.size());
  return std::atoi(status);
}

int answer(mg_connection* connection, void* page) {
  const std::string method = mg_get_request_info(connection)->request_method;
  if (method != "GET" && method != "HEAD")
    return send(connection, "405 Method Not Allowed", {"text/plain", "GET or HEAD\n"});
  try {
    return send(connection, "200 OK", (*static_cast<std::function<HttpPage()>*>(page))());
  } catch (const std::exception& error) {
    return send(connection, "500 Internal Server Error", {"text/plain", std::string(error.what()) + "\n"});
  }
}

void connect_once(const std::string& host, const std::string& port) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), nullptr, &found) != 0) return;
  const int connection = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection >= 0) {
    (void)::connect(connection, found->ai_addr, found->ai_addrlen);
    ::close(connection);
  }
  ::freeaddrinfo(found);
}

}  // namespace

struct HttpEndpoint::State {
  std::string host;
  Pages pages;
  std::string complaint;  // civetweb's, while it starts
  mg_context* context = nullptr;

  static int keep_complaint(const mg_connection* connection, const char* message) {
    const mg_context* context = mg_get_context(connection);
    static_cast<State*>(mg_get_user_data(context))->complaint = message;
    return 1;  // handled: nothing is printed
  }
};

HttpEndpoint::HttpEndpoint(const std::string& host, int port, Pages pages)
    : state_(std::make_unique<State>()) {
  state_->host = host;
  state_->pages = std::move(pages);
  mg_callbacks callbacks{};
  callbacks.log_message = State::keep_complaint;
  const std::string address = fmt::format("{}:{}", host, port);
  const char* options[] = {"listening_ports",    address.c_str(), "num_threads", "2",
                           "request_timeout_ms", "10000",         nullptr};
  state_->context = mg_start(&callbacks, state_.get(), options);
  if (state_->context == nullptr) {
    fail(
        "metrics endpoint: cannot listen on {}: {}; choose another port, or 0 for any free one, and an "
        "address of this "
        "machine",
        address,
        state_->complaint.empty() ? "the address or port is in use or not valid" : state_->complaint);
  }
  for (auto& [path, page] : state_->pages)
    mg_set_request_handler(state_->context, path.c_str(), answer, &page);
}

/// civetweb's accepting thread looks for the stop every two seconds, or when somebody connects: so somebody
/// does.
HttpEndpoint::~HttpEndpoint() {
  const std::string number = std::to_string(port());
  std::atomic<bool> stopped = false;
  std::thread caller([&] {
    while (!stopped) {
      connect_once(state_->host, number);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  mg_stop(state_->context);
  stopped = true;
  caller.join();
}

int HttpEndpoint::port() const {
  mg_server_port port{};
  ATOLL_CHECK(mg_get_server_ports(state_->context, 1, &port) == 1, "the endpoint listens nowhere");
  return port.port;
}

}  // namespace atl
