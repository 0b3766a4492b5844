// A thread of a rank in virtual time: where its program stands.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/operation.h"
#include "simulate/recording.h"

namespace atl {

struct VirtualThread {
  std::span<const RecordedStep> steps;
  std::span<const RecordedOperation> operations;
  std::vector<std::shared_ptr<Operation>> started;  // by number; null once waited for
  std::size_t at = 0;                               // the next step
  double remaining = 0;                             // of the segment that it computes
  const Operation* awaited = nullptr;
  int awaited_number = -1;
  bool wants_batch = false;  // it stands until one is made
  double waits_since = 0;    // where it stands

  VirtualThread() = default;
  VirtualThread(std::span<const RecordedStep> program, std::span<const RecordedOperation> its_operations)
      : steps(program), operations(its_operations), started(its_operations.size()) {}
  bool computes() const { return remaining > 0; }
  bool is_through() const { return !computes() && awaited == nullptr && at == steps.size(); }
};

/// Explanations that may begin, and have ended: a thread goes on with one after the other.
struct VirtualExplanations {
  int begun = 0, ended = 0;  // how many
  bool under_way = false;
};

/// Which batches are made and taken: threads that make them go on as long as no more are ahead than may be.
class VirtualBatches {
 public:
  explicit VirtualBatches(const RecordedBatches& recorded)
      : recorded_(recorded), is_made_(recorded.all.size()) {}

  /// The next one to be made; −1: not now.
  int claim() {
    if (claimed_ == int(is_made_.size()) || claimed_ - taken_ >= recorded_.ahead) return -1;
    return claimed_++;
  }
  void made(int batch) { is_made_[std::size_t(batch)] = 1; }
  /// The next one in order. False: it isn't made yet.
  bool take() {
    if (!is_made_[std::size_t(taken_)]) return false;
    ++taken_;
    return true;
  }

 private:
  const RecordedBatches& recorded_;
  std::vector<char> is_made_;
  int claimed_ = 0, taken_ = 0;
};

}  // namespace atl
