// The measure of a search's effort: a look reads one number of a server, a site or a pair that talks.
// Searches are bounded by looks and not by a clock, so that the same question has the same answer on any
// machine.
#pragma once

#include <cstdint>

namespace atl::ctl {

class Looks {
 public:
  explicit Looks(std::int64_t most) : left_(most) {}

  void count(std::size_t looks) { left_ -= std::int64_t(looks); }
  bool are_left() const { return left_ > 0; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

}  // namespace atl::ctl
