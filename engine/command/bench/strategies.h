// atoll bench strategies: the same work under several strategies, in turn, on this machine or on the links of
// a rig.
#pragma once

#include <string>

namespace atl {

// The links that a benchmark runs on, as whoever made them tells in the environment: ATOLL_RIG says what they
// are, ATOLL_RIG_LINK is the program that changes their rate. Without them it is this machine as it is.

class Rig {
 public:
  /// Throws Error where ATOLL_RIG isn't a JSON object.
  static Rig from_environment();

  /// {"servers":2,…} as given; "" without.
  const std::string& description() const { return description_; }
  /// The present rate of a link as tc writes it ("850mbit"); "" where none is known.
  const std::string& link() const { return link_; }
  bool can_shape() const { return !program_.empty(); }
  /// Of all links, in bits a second. Throws Error where the program fails.
  void set_rate(double bits);

 private:
  std::string description_, link_, program_;
};

/// "850mbit" in bits a second, as tc reads it. Throws Error where it isn't a rate.
double link_bits(const std::string& rate);
/// To four digits.
std::string link_rate(double bits);

}  // namespace atl
