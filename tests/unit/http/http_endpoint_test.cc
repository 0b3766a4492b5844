#include "http/http_endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

namespace atl {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

HttpPages pages() {
  return {{"/good",
           [] {
             return HttpPage{"text/plain", "body\n"};
           }},
          {"/bad", []() -> HttpPage { throw std::runtime_error("no such figure"); }}};
}

TEST(HttpAnswer, PagesMethodsAndMistakes) {
  EXPECT_THAT(http_answer("GET /good HTTP/1.1\r\n\r\n", pages()), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(http_answer("GET /good?x=1 HTTP/1.1\r\n\r\n", pages()), EndsWith("\r\n\r\nbody\n"));
  const std::string head = http_answer("HEAD /good HTTP/1.1\r\n\r\n", pages());
  EXPECT_THAT(head, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(http_answer("GET /good/ HTTP/1.1\r\n\r\n", pages()), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(http_answer("POST /good HTTP/1.1\r\n\r\n", pages()), StartsWith("HTTP/1.1 405"));
  for (const char* nonsense : {"\r\n\r\n", "GET\r\n\r\n", "GET /good\r\nHost: a b\r\n\r\n", "  "})
    EXPECT_THAT(http_answer(nonsense, pages()), StartsWith("HTTP/1.1 4")) << nonsense;
  const std::string failed = http_answer("GET /bad HTTP/1.1\r\n\r\n", pages());
  EXPECT_THAT(failed, StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(failed, EndsWith("no such figure\n"));
}

int connected_to(const HttpEndpoint& endpoint) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(endpoint.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return connection;
}

void say(int connection, const std::string& text) {
  EXPECT_EQ(::send(connection, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
}

std::string heard_from(int connection) {
  std::string answer;
  char piece[65536];
  for (ssize_t got; (got = ::recv(connection, piece, sizeof piece, 0)) > 0;) answer.append(piece, got);
  return answer;
}

TEST(HttpEndpoint, SilentClientsHoldUpNobody) {
  const HttpEndpoint endpoint("127.0.0.1", 0, pages());
  std::vector<int> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connected_to(endpoint));
  say(silent[0], "GET /go");
  const int asking = connected_to(endpoint);
  say(asking, "GET /good HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard_from(asking), EndsWith("body\n"));
  say(silent[0], "od HTTP/1.1\r\n\r\n");  // a request in two pieces
  EXPECT_THAT(heard_from(silent[0]), EndsWith("body\n"));
  for (const int connection : silent) ::close(connection);
  ::close(asking);
}

TEST(HttpEndpoint, TheOldestSilentClientGivesWayWhereAllPlacesAreTaken) {
  const HttpEndpoint endpoint("127.0.0.1", 0, pages());
  std::vector<int> silent;
  for (int i = 0; i < 64; ++i) silent.push_back(connected_to(endpoint));
  const auto before = std::chrono::steady_clock::now();
  const int asking = connected_to(endpoint);
  say(asking, "GET /good HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard_from(asking), EndsWith("body\n"));
  EXPECT_EQ(heard_from(silent.front()), "");
  say(silent.back(), "GET /good HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard_from(silent.back()), EndsWith("body\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));  // silent ones have ten
  for (const int connection : silent) ::close(connection);
  ::close(asking);
}

TEST(HttpEndpoint, ABodyThatNobodyReadsIsAnsweredAndNotReset) {
  const HttpEndpoint endpoint("127.0.0.1", 0, pages());
  const int asking = connected_to(endpoint);
  say(asking, "POST /good HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n");
  say(asking, std::string(8'000'000, 'x'));  // more than the system's buffers take
  EXPECT_THAT(heard_from(asking), StartsWith("HTTP/1.1 405"));
  ::close(asking);
}

TEST(HttpEndpoint, APageLargerThanTheKernelsBuffersArrivesWhole) {
  const std::string large(20'000'000, 'x');
  const HttpEndpoint endpoint("127.0.0.1", 0, {{"/", [&] { return HttpPage{"text/plain", large}; }}});
  const int asking = connected_to(endpoint);
  say(asking, "GET / HTTP/1.1\r\n\r\n");
  const std::string answer = heard_from(asking);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, large.size());
  ::close(asking);
}

TEST(HttpEndpoint, EndlessRequestsAreDropped) {
  const HttpEndpoint endpoint("127.0.0.1", 0, pages());
  const int asking = connected_to(endpoint);
  const std::string piece(4096, 'x');
  bool dropped = false;
  // The system's buffers take much before the end of the connection gets about.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!dropped && std::chrono::steady_clock::now() < deadline)
    dropped = ::send(asking, piece.data(), piece.size(), MSG_NOSIGNAL) < 0;
  EXPECT_TRUE(dropped);
  ::close(asking);
}

/// While one of these lives, this process may open `more` files and no further one.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit few{rlim_t(next + more), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

TEST(HttpEndpoint, SleepsWhileNoFileIsFreeAndThenAnswers) {
  const HttpEndpoint endpoint("127.0.0.1", 0, pages());
  int asking = -1;
  {
    const FewFiles only_ours(1);
    asking = connected_to(endpoint);
    const std::clock_t before = std::clock();  // of all threads
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.2);
  }
  say(asking, "GET /good HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard_from(asking), EndsWith("body\n"));
  ::close(asking);
}

TEST(HttpEndpoint, EndsAtOnce) {
  const auto before = std::chrono::steady_clock::now();
  { const HttpEndpoint endpoint("127.0.0.1", 0, pages()); }
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(500));
}

}  // namespace
}  // namespace atl
