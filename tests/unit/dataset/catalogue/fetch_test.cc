// Downloads from a server in this process, which speaks just enough HTTP: ranges, errors, connections that
// break.
#include "dataset/catalogue/fetch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/sha256.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

/// Serves one body to one client after the other on 127.0.0.1.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::string body) : body_(std::move(body)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/data.bin";
    thread_ = std::thread([this] { serve(); });
  }
  ~LoopbackServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  const std::string& url() const { return url_; }
  std::atomic<bool> ranges{true};
  std::atomic<int> break_after{-1};  // bytes of the next answer's body, then the connection is cut; −1: never
  std::atomic<int> status{200};
  std::atomic<std::size_t> bytes_sent{0};

 private:
  void serve() {
    while (true) {
      const int client = ::accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      std::string request;
      char piece[1024];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(client, piece, sizeof piece, 0);
        if (got <= 0) break;
        request.append(piece, std::size_t(got));
      }
      answer(client, request);
      ::close(client);
    }
  }

  void answer(int client, const std::string& request) {
    const std::size_t range = request.find("Range: bytes=");
    const bool partial = ranges && range != std::string::npos;
    const std::size_t begin = partial ? std::stoul(request.substr(range + 13)) : 0;
    std::string head =
        "HTTP/1.1 " + std::to_string(partial ? 206 : status.load()) + " X\r\nConnection: close\r\n";
    if (partial && begin >= body_.size()) {
      head = "HTTP/1.1 416 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      ::send(client, head.data(), head.size(), MSG_NOSIGNAL);
      return;
    }
    if (partial) {
      head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(body_.size() - 1) + "/" +
              std::to_string(body_.size()) + "\r\n";
    }
    head += "Content-Length: " + std::to_string(body_.size() - begin) + "\r\n\r\n";
    std::string body = body_.substr(begin);
    const int cut = break_after.exchange(-1);
    if (cut >= 0) body.resize(std::min(body.size(), std::size_t(cut)));
    bytes_sent += body.size();
    head += body;
    ::send(client, head.data(), head.size(), MSG_NOSIGNAL);
  }

  std::string body_, url_;
  int socket_;
  std::thread thread_;
};

class FetchTest : public ::testing::Test {
 protected:
  std::string expect_error(const std::string& url, const std::string& sha) {
    try {
      fetch(url, sha, folder_ / "out");
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  TemporaryFolder folder_;
  std::string body_ = std::string(300'000, 'x') + "end";
  std::string sha_ = sha256_hex(body_);
  LoopbackServer server_{body_};
};

TEST_F(FetchTest, FetchesAndReportsProgress) {
  Index last = 0;
  const auto file = fetch(server_.url(), sha_, folder_.path(), [&](Index done, Index) { last = done; });
  EXPECT_EQ(file, folder_ / "data.bin");
  EXPECT_EQ(read_bytes(file), body_);
  EXPECT_EQ(last, Index(body_.size()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "data.bin.part"));
}

TEST_F(FetchTest, APathThatEndsInASlashIsAFolderToBeMade) {
  const auto file = fetch(server_.url(), sha_, folder_ / "new" / "folder" / "");
  EXPECT_EQ(file, folder_ / "new" / "folder" / "data.bin");
  EXPECT_EQ(read_bytes(file), body_);
}

TEST_F(FetchTest, AFileWhereAFolderIsNeededIsNamedBeforeAnythingIsFetched) {
  write_text(folder_ / "file", "x");
  try {
    fetch(server_.url(), sha_, folder_ / "file" / "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a part of the path is a file"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(server_.bytes_sent, 0u);
}

TEST_F(FetchTest, DoesNotFetchWhatIsThere) {
  write_text(folder_ / "out", body_);
  fetch(server_.url(), sha_, folder_ / "out");
  EXPECT_EQ(server_.bytes_sent, 0u);
}

TEST_F(FetchTest, ContinuesWhereItBrokeOff) {
  server_.break_after = 100'000;
  fetch(server_.url(), sha_, folder_ / "out");
  EXPECT_EQ(read_bytes(folder_ / "out"), body_);
  EXPECT_EQ(server_.bytes_sent, body_.size());  // nothing twice
}

TEST_F(FetchTest, ContinuesAnEarlierRun) {
  write_text(folder_ / "out.part", body_.substr(0, 200'000));
  fetch(server_.url(), sha_, folder_ / "out");
  EXPECT_EQ(read_bytes(folder_ / "out"), body_);
  EXPECT_EQ(server_.bytes_sent, body_.size() - 200'000);
}

TEST_F(FetchTest, StartsAgainWhereTheServerCannotContinue) {
  server_.ranges = false;
  write_text(folder_ / "out.part", body_.substr(0, 200'000));
  fetch(server_.url(), sha_, folder_ / "out");
  EXPECT_EQ(read_bytes(folder_ / "out"), body_);
}

TEST_F(FetchTest, StartsAgainWhereThePartIsLongerThanTheFile) {
  write_text(folder_ / "out.part", body_ + "more");
  fetch(server_.url(), sha_, folder_ / "out");
  EXPECT_EQ(read_bytes(folder_ / "out"), body_);
}

TEST_F(FetchTest, RefusesAnotherChecksumAndRemovesTheFile) {
  const std::string message = expect_error(server_.url(), sha256_hex("something else"));
  EXPECT_NE(message.find("has SHA-256 " + sha_), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FetchTest, NamesWhatIsWrong) {
  server_.status = 404;
  EXPECT_NE(expect_error(server_.url(), sha_).find("404"), std::string::npos);
  EXPECT_NE(expect_error("ftp://x/y", sha_).find("http"), std::string::npos);
  EXPECT_NE(expect_error(server_.url(), "abc").find("64 hex digits"), std::string::npos);
  EXPECT_NE(expect_error("file:///does/not/exist", sha_).find("check the URL"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FetchTest, ReadsFileUrls) {
  write_text(folder_ / "source", body_);
  fetch("file://" + (folder_ / "source").string(), sha_, folder_ / "deep" / "out");
  EXPECT_EQ(read_bytes(folder_ / "deep" / "out"), body_);
}

}  // namespace
}  // namespace atl
