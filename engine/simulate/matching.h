// Which sends and receives are one message: between a pair of ranks they match in the order in which they were started, as the transport
// has it (comm/transport.h).
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// Messages that a rank started together.
struct MessageGroup {
  int under_way = 0;  // of which its rank has yet to learn that they are through
};

/// One message. `left`: its sender is done with it; `arrived`: its receiver, once that has asked for it.
struct Transfer {
  Rank from = 0, to = 0;
  Lane lane = Lane::kSmall;
  std::int64_t bytes = 0;
  double remaining = 0;  // bytes that have yet to leave, with those before it that it can't pass
  bool awaited = false, left = false, arrived = false;
  double ready = 0;  // handed over, and its receiver's word has come: it leaves no earlier
  int holders = 2;   // sides that may still look at it
  MessageGroup *sent_with = nullptr, *received_with = nullptr;  // of sides that have come
  Transfer* next = nullptr;                                     // that waits for its other side
};

class Matching {
 public:
  explicit Matching(int ranks) : ranks_(ranks) {}
  Matching(const Matching&) = delete;

  /// A side of the next message of its pair and order: both sides get the same one. `order`: kFirstOrder … kFirstOrder + 15.
  Transfer& match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends);
  /// A side that got it looks at it no more.
  void release(Transfer& transfer);
  static constexpr int kFirstOrder = -kLanes;

 private:
  /// Messages of which one side has come.
  struct Line {
    Transfer *first = nullptr, *last = nullptr;
    bool sent = false;  // that side is the sender's
  };
  Transfer& fresh();

  std::int64_t ranks_;
  std::unordered_map<std::int64_t, Line> lines_;  // by pair and order, as long as anything waits
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_;
};

}  // namespace atl
