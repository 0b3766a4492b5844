// The launcher waits for hosts, and names those that don't come.
#include "launch/places.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"

namespace atl {
namespace {

using std::chrono::milliseconds;

/// A port of loopback's that accepts connections once listen() was called.
class Listener {
 public:
  Listener() : file_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(file_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(file_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  void listen() const { EXPECT_EQ(::listen(file_, 8), 0); }
  HostPort host(const std::string& name) const { return {name, "127.0.0.1", port_}; }

 private:
  int file_, port_ = 0;
};

std::string error_of(const std::vector<HostPort>& hosts, milliseconds patience) {
  try {
    wait_until_reachable(hosts, patience);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Reachable, WaitsForTheLastHost) {
  const Listener first, late;
  first.listen();
  std::thread opening([&] {
    std::this_thread::sleep_for(milliseconds(300));
    late.listen();
  });
  EXPECT_EQ(error_of({first.host("a"), late.host("b")}, milliseconds(10'000)), "");
  opening.join();
}

TEST(Reachable, NamesWhoIsMissingAndWhy) {
  const Listener there, closed;
  there.listen();
  const std::string message = error_of({there.host("there"), closed.host("closed")}, milliseconds(300));
  EXPECT_THAT(message, testing::HasSubstr("closed (127.0.0.1 port"));
  EXPECT_THAT(message, testing::HasSubstr("refused"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("there (")));
}

TEST(Reachable, ANameIsNoAddress) {
  EXPECT_THAT(error_of({{"a", "job-0-0", 2222}}, milliseconds(10'000)),
              testing::HasSubstr("'job-0-0' is not an IP address"));
}

}  // namespace
}  // namespace atl
