#include "comm/wait_board.h"

#include <utility>

namespace atl {

void WaitBoard::enter(std::vector<Rank> peers, Clock::time_point since) {
  const std::lock_guard guard(lock_);
  peers_ = std::move(peers);
  since_ = since;
}

WaitBoard::Wait WaitBoard::read() const {
  const std::lock_guard guard(lock_);
  if (peers_.empty()) return {};
  return {peers_, std::chrono::duration<double>(Clock::now() - since_).count()};
}

}  // namespace atl
