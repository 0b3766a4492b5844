#include "http/http_endpoint.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMostRequestBytes = 8192, kMostConnections = 64;
constexpr int kPauseMilliseconds = 100;

/// One client: its request as it arrives, then our answer as it leaves.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket), deadline_(Clock::now() + kPatience) {}

  pollfd interest() const { return {socket_.get(), short(is_answered() ? POLLOUT : POLLIN), 0}; }
  bool finished() const { return finished_ || Clock::now() > deadline_; }
  /// Whether our answer is leaving: the request has come, and some of the answer is still here.
  bool is_answered() const { return sent_ < answer_.size(); }

  /// Receives and sends what it can without waiting.
  void go_on(const HttpPages& pages) {
    if (!is_answered()) receive(pages);
    if (is_answered()) send();
  }

 private:
  /// Receives the request and, after our answer, bytes that nobody needs, such as a POST's body. If the
  /// socket were closed with bytes unread, the system would reset the connection, and the client might lose
  /// our answer.
  void receive(const HttpPages& pages) {
    char piece[2048];
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
    finished_ = got <= 0 && !waits;
    if (got <= 0 || !answer_.empty()) return;
    request_.append(piece, std::size_t(got));
    finished_ = request_.size() > kMostRequestBytes;
    if (!finished_ && request_.find("\r\n\r\n") != std::string::npos) answer_ = http_answer(request_, pages);
  }

  void send() {
    const ssize_t given = ::send(socket_.get(), answer_.data() + sent_, answer_.size() - sent_, MSG_NOSIGNAL);
    if (given > 0) sent_ += std::size_t(given);
    const bool waits = given < 0 && (errno == EAGAIN || errno == EINTR);
    finished_ = given < 0 && !waits;
    if (!is_answered()) ::shutdown(socket_.get(), SHUT_WR);  // the client closes once it has read all
  }

  Descriptor socket_;
  Clock::time_point deadline_;
  std::string request_, answer_;
  std::size_t sent_ = 0;
  bool finished_ = false;
};

/// Returns the client that gives way to a new one if all places are taken: the oldest that isn't being
/// answered. Most clients send their request at once, so this is a silent one, unless very many
/// arrive together.
std::vector<Connection>::iterator first_to_go(std::vector<Connection>& connections) {
  auto found = std::ranges::find_if_not(connections, &Connection::is_answered);
  if (found == connections.end()) found = connections.begin();
  return found;
}

}  // namespace

struct HttpEndpoint::State {
  State(Descriptor listening, HttpPages served)
      : pages(std::move(served)), listener(std::move(listening)), wake(::eventfd(0, EFD_CLOEXEC)) {}

  HttpPages pages;
  Descriptor listener, wake;  // wake: readable when the thread is to end
  std::thread thread;

  void serve() {
    std::vector<Connection> connections;
    while (true) {
      std::vector<pollfd> waiting{{wake.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
      for (const Connection& c : connections) waiting.push_back(c.interest());
      ::poll(waiting.data(), nfds_t(waiting.size()), connections.empty() ? -1 : 1000);
      if (waiting[0].revents != 0) return;
      for (std::size_t i = 0; i < connections.size(); ++i)
        if (waiting[i + 2].revents != 0) connections[i].go_on(pages);
      std::erase_if(connections, [](const Connection& c) { return c.finished(); });
      if (waiting[1].revents == 0) continue;
      const int client = ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      // If no file descriptor is free, the client stays in the queue, and poll() would return at once again.
      const bool must_wait = client < 0 && (errno == EMFILE || errno == ENFILE);
      if (client >= 0 && connections.size() >= kMostConnections) connections.erase(first_to_go(connections));
      if (client >= 0) connections.emplace_back(client);
      if (must_wait) ::poll(waiting.data(), 1, kPauseMilliseconds);
    }
  }
};

HttpEndpoint::HttpEndpoint(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->thread = std::thread([this] { state_->serve(); });
}
HttpEndpoint::HttpEndpoint(const std::string& host, int port, HttpPages pages)
    : HttpEndpoint(std::make_unique<State>(listen_at(host, port), std::move(pages))) {}
HttpEndpoint::HttpEndpoint(const LocalName& name, HttpPages pages)
    : HttpEndpoint(std::make_unique<State>(listen_at(name), std::move(pages))) {}

HttpEndpoint::~HttpEndpoint() {
  ::eventfd_write(state_->wake.get(), 1);
  state_->thread.join();
}

int HttpEndpoint::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ATOLL_CHECK(::getsockname(state_->listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0,
              "the endpoint listens nowhere");
  const bool six = address.ss_family == AF_INET6;
  return ntohs(six ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// The text that answers an HTTP request.

namespace {

std::string reply(const char* status, const HttpPage& page, bool with_body) {
  return fmt::format(
             "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
             "Connection: close\r\n\r\n",
             status, page.content_type, page.body.size()) +
         (with_body ? page.body : "");
}

}  // namespace

std::string http_answer(const std::string& request, const HttpPages& pages) {
  const auto method_end = request.find(' '), target_end = request.find(' ', method_end + 1);
  const std::string line = request.substr(0, request.find("\r\n"));
  if (method_end == std::string::npos || target_end == std::string::npos || target_end > line.size())
    return reply("400 Bad Request", {"text/plain", "not an HTTP request\n"}, true);
  const std::string method = line.substr(0, method_end);
  const std::string target = line.substr(method_end + 1, target_end - method_end - 1);
  if (method != "GET" && method != "HEAD")
    return reply("405 Method Not Allowed", {"text/plain", "GET or HEAD\n"}, true);
  const bool with_body = method == "GET";
  const auto page = pages.find(target.substr(0, target.find('?')));
  if (page == pages.end()) return reply("404 Not Found", {"text/plain", "no such page\n"}, with_body);
  try {
    return reply("200 OK", page->second(), with_body);
  } catch (const std::exception& error) {
    return reply("500 Internal Server Error", {"text/plain", std::string(error.what()) + "\n"}, with_body);
  }
}

}  // namespace atl
