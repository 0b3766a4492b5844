// Operations of a rank that runs by itself: each is through at once, and what has come is empty.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "simulate/rank_notes.h"

namespace atl {

/// `hosts` (ranks): the server of each. `notes`: told of each operation; outlives it. `fills`: whether messages have memory, for zeros.
std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills);

}  // namespace atl
