// Whom the ranks of a server wait for, as they tell each other and as /progress tells the operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/wait_board.h"

namespace atl {

/// What is known of one rank.
struct RankWait {
  Rank rank = 0;
  bool answers = true;  // false: it has not started, hangs or is gone
  WaitBoard::Wait wait;
};

/// {"for":[1,3],"seconds":12.5}
std::string wait_text(const WaitBoard::Wait& wait);
/// Nothing where the text isn't that.
std::optional<WaitBoard::Wait> read_wait(const std::string& text);

}  // namespace atl
