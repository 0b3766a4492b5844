// atoll bench strategies: the same work under several strategies, in turn, on this machine or on the links of
// a rig.
#pragma once

#include <string>

namespace atl {

// The links that a benchmark runs on, as their maker says in the environment: ATOLL_RIG describes them,
// ATOLL_RIG_LINK is the program that changes their rate. Without these, the benchmark runs on this machine as
// it is.

class Rig {
 public:
  /// Throws Error where ATOLL_RIG isn't a JSON object.
  static Rig from_environment();

  /// {"servers":2,…} as given; "" without ATOLL_RIG.
  const std::string& description() const { return description_; }
  /// The present rate of a link in tc's form ("850mbit"); "": unknown.
  const std::string& link() const { return link_; }
  bool can_shape() const { return !program_.empty(); }
  /// Sets the rate of all links, bits per second. Throws Error where the program fails.
  void set_rate(double bits);

 private:
  std::string description_, link_, program_;
};

/// "850mbit" in bits per second, as tc reads it. Throws Error where it isn't a rate.
double link_bits(const std::string& rate);
/// The rate in tc's form, to four digits.
std::string link_rate(double bits);

}  // namespace atl
