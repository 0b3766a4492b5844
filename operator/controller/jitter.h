// How long a job waits before it tries again. Jobs differ, and so do a job's tries, so that two which got in each other's way don't meet
// again. The wait is the same whenever it is asked for, because a restarted operator must wait as long as the last one.
#pragma once

#include <string>

#include "base/sha256.h"
#include "operator/controller/turn.h"

namespace atl::ctl {

/// Of 0 … `most` whole seconds, drawn by the job and a moment.
inline Seconds jitter(const Turn& turn, Moment moment, Seconds most) {
  const std::string digits = sha256_hex(turn.job().meta.uid + text_of(moment)).substr(0, 8);
  return Seconds(std::stoll(digits, nullptr, 16) % (most.count() + 1));
}

}  // namespace atl::ctl
