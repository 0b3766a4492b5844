#include "launch/output_relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 4096;  // what a pipe surely takes when it is ready (PIPE_BUF)

bool is_ready(int file, short events) {
  pollfd one{file, events, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

OutputRelay::OutputRelay() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before_);
  if (isatty(STDOUT_FILENO) == 1) return;
  if (pipe2(ends_, O_CLOEXEC) != 0) fail("a pipe for the ranks' output: {}", std::strerror(errno));
}

OutputRelay::~OutputRelay() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
  sigaction(SIGPIPE, &before_, nullptr);
}

void OutputRelay::close_childs_end() {
  if (ends_[1] >= 0) close(ends_[1]);
  ends_[1] = -1;
}

std::array<pollfd, OutputRelay::kFiles> OutputRelay::files() const {
  return {{{held_.empty() ? ends_[0] : -1, POLLIN, 0}, {held_.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}}};
}

bool OutputRelay::pass_on() {
  const bool taken = take();
  return give() || taken;
}

bool OutputRelay::take() {
  if (!held_.empty() || ends_[0] < 0 || !is_ready(ends_[0], POLLIN)) return false;
  char buffer[kPiece];
  const ssize_t size = read(ends_[0], buffer, sizeof buffer);
  if (size <= 0) {
    close(ends_[0]);
    ends_[0] = -1;
    return false;
  }
  if (!unread_) held_.assign(buffer, std::size_t(size));
  return true;
}

bool OutputRelay::give() {
  if (held_.empty() || !is_ready(STDOUT_FILENO, POLLOUT)) return false;
  const ssize_t size = write(STDOUT_FILENO, held_.data(), std::min(held_.size(), kPiece));
  if (size < 0 && errno == EINTR) return false;
  unread_ = size < 0 && errno == EPIPE;
  // What can't be written is dropped: a full disk mustn't end a training.
  held_.erase(0, size < 0 ? std::string::npos : std::size_t(size));
  return true;
}

}  // namespace atl
