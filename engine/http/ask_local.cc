#include "http/ask_local.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLongestAnswer = 4 << 20;

/// One question and its answer as it arrives.
class Question {
 public:
  Question(const LocalName& name, const std::string& request)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const LocalAddress address(name);
    // The kernel takes both at once or not at all: nobody need be awake on the other side.
    const bool asked =
        ::connect(socket_.get(), address.get(), address.size) == 0 &&
        ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) == ssize_t(request.size());
    over_ = !asked;
  }

  bool over() const { return over_; }
  pollfd interest() const { return {over_ ? -1 : socket_.get(), POLLIN, 0}; }

  void receive() {
    char piece[16384];
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got > 0) answer_.append(piece, std::size_t(got));
    whole_ = got == 0;
    const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
    over_ = (got <= 0 && !waits) || answer_.size() > kLongestAnswer;
  }

  std::optional<std::string> page() const {
    const auto head_end = answer_.find("\r\n\r\n");
    if (!whole_ || head_end == std::string::npos || !answer_.starts_with("HTTP/1.1 200 ")) return {};
    const std::string page = answer_.substr(head_end + 4);
    const std::string length = "\r\nContent-Length: " + std::to_string(page.size()) + "\r\n";
    if (answer_.substr(0, head_end + 2).find(length) == std::string::npos) return {};  // it broke off
    return page;
  }

 private:
  Descriptor socket_;
  std::string answer_;
  bool over_ = false, whole_ = false;
};

}  // namespace

std::vector<std::optional<std::string>> ask_local(std::span<const LocalName> names, const std::string& path,
                                                  std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::vector<Question> questions;
  for (const LocalName& name : names) questions.emplace_back(name, "GET " + path + " HTTP/1.1\r\n\r\n");
  while (!std::ranges::all_of(questions, &Question::over)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    std::vector<pollfd> waiting;
    for (const Question& q : questions) waiting.push_back(q.interest());
    ::poll(waiting.data(), nfds_t(waiting.size()), int(left.count()));
    for (std::size_t i = 0; i < questions.size(); ++i)
      if (waiting[i].revents != 0) questions[i].receive();
  }
  std::vector<std::optional<std::string>> pages;
  for (const Question& q : questions) pages.push_back(q.page());
  return pages;
}

}  // namespace atl
