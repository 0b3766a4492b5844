// The ranks of an emulated NCCL communicator, and how their messages meet. Nothing is buffered: a send ends
// only when its receiver's group is at the head of its stream, too, and a sum only when it is at the head of
// all streams. A rank that would wait for ever, or take one message for another, ends the program.
#pragma once

#include <nccl.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "emulated.h"

namespace emulated {

enum class Does { kSends, kReceives, kSums };

/// A message, or a rank's exchange with another one for a sum.
struct Op {
  Does does;
  void* data;
  std::size_t bytes;
  int peer;
  std::size_t width = 1;  // of a value, float or double
  bool met = false;
};

/// What a rank launches at once: messages, or one sum.
struct Group {
  int rank;
  std::vector<Op> ops;
  bool given_up = false;
  bool sums() const { return ops.front().does == Does::kSums; }
};

class Clique {
 public:
  explicit Clique(int ranks) : heads_(std::size_t(ranks)), gpus_(std::size_t(ranks), -1) {}

  int size() const { return int(gpus_.size()); }
  bool join(int rank, int gpu);
  /// In progress until all ranks have joined; an error if two of them are on one GPU.
  ncclResult_t joined() const;
  /// Called again and again while the group is at the head of its rank's stream. Returns true when all its
  /// messages have met.
  bool meet(const std::shared_ptr<Group>& group);
  void give_up(Group& group);

 private:
  void meet_messages(Group& group);
  void sum_up();
  Op* opposite(int rank, const Op& op);
  bool waits_for_itself(int rank, int from, int steps) const;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Group>> heads_;  // at the head of each rank's stream; null: none
  std::vector<int> gpus_;                      // −1: not joined yet
  Random draws_{next_seed()};                  // draws the order of a sum's terms
};

}  // namespace emulated
