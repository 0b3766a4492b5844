// How long the thread that communicates sleeps between two looks for messages.
#include "comm/progress.h"

#include <algorithm>

namespace atl {
namespace {

using std::chrono::microseconds;
using Nanoseconds = PollPace::Nanoseconds;

constexpr Nanoseconds kPollWithoutSleep = microseconds(40);
constexpr Nanoseconds kShortest = microseconds(5), kLongest = microseconds(100),
                      kLongestBeside = microseconds(2000);
constexpr std::int64_t kHandedOver = 128 << 10;  // bytes, of the 512 KiB that a socket takes

}  // namespace

void PollPace::learn(std::int64_t bytes, Nanoseconds took) {
  if (bytes < kHandedOver) return;
  const Nanoseconds needed(std::int64_t(double(took.count()) * double(kHandedOver) / double(bytes)));
  bulk_ = std::clamp((bulk_ + needed) / 2, kLongest, kLongestBeside);
}

Nanoseconds PollPace::nap(Nanoseconds waited, bool stands) const {
  if (stands && waited < kPollWithoutSleep) return Nanoseconds(0);
  if (stands) return std::clamp(waited / 16, kShortest, kLongest);
  return std::clamp(waited / 4, kShortest, std::max(bulk_, kLongest));
}

}  // namespace atl
