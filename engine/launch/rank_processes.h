// The ranks that run below this process: they are children of mpirun's daemon, not of who watches over them.
#pragma once

#include <sys/types.h>

#include <map>

#include "base/types.h"

namespace atl {

/// Pid → rank of every `atoll` process among our descendants that mpirun has told its number.
std::map<pid_t, Rank> rank_processes();

}  // namespace atl
