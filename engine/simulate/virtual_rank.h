// One rank of a replay: the recorded programs of its threads, and its side of the network. The same slots as
// a real rank's drive it.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/lane_slots.h"
#include "comm/operation.h"
#include "comm/progress.h"
#include "simulate/network.h"
#include "simulate/recording.h"
#include "simulate/simulation.h"

namespace atl {

// A thread of a rank in virtual time: the position in its program.

struct VirtualThread {
  std::span<const RecordedStep> steps;
  std::span<const RecordedOperation> operations;
  std::vector<std::shared_ptr<Operation>> started;  // by number; null once waited for
  std::size_t at = 0;                               // the next step
  double remaining = 0;                             // seconds of the segment that the thread computes
  const Operation* awaited = nullptr;
  int awaited_number = -1;
  bool wants_batch = false;  // the thread waits until a batch is made
  double waits_since = 0;    // when the wait began

  VirtualThread() = default;
  VirtualThread(std::span<const RecordedStep> program, std::span<const RecordedOperation> its_operations)
      : steps(program), operations(its_operations), started(its_operations.size()) {}
  bool computes() const { return remaining > 0; }
  bool is_through() const { return !computes() && awaited == nullptr && at == steps.size(); }
};

/// The explanations that may begin, and those that have ended. One thread does them one after the other.
struct VirtualExplanations {
  int begun = 0, ended = 0;  // how many
  bool under_way = false;
};

/// The batches that are made and taken. Their makers go on while at most `ahead` batches are made and not yet
/// taken.
class VirtualBatches {
 public:
  explicit VirtualBatches(const RecordedBatches& recorded)
      : recorded_(recorded), is_made_(recorded.all.size()) {}

  /// The next batch to make; −1: none now.
  int claim() {
    if (claimed_ == int(is_made_.size()) || claimed_ - taken_ >= recorded_.ahead) return -1;
    return claimed_++;
  }
  void made(int batch) { is_made_[std::size_t(batch)] = 1; }
  /// Takes the next batch in order. False: it isn't made yet.
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

class VirtualRank final : private Transport, private LaneSlots::Watcher {
 public:
  /// The arguments outlive it. `no_values`: the address of a sum's values, never read or written.
  VirtualRank(Rank rank, const RankRecording& recording, const Topology& topology, VirtualNetwork& network,
              double kernel_speed, std::byte* no_values);
  ~VirtualRank() override;

  /// Lets everything go on that can at this time: messages, then threads until they compute or wait.
  void go_on();
  /// How many threads compute.
  int computing() const;
  /// Sets the number of processors that the threads that compute share equally from now on.
  void set_processors(double processors);
  bool is_through() const { return threads_.front().is_through(); }
  /// When the next thread will have computed its segment, at the present speed; infinite: none computes.
  double computed_at() const;
  /// Call at computed_at(): ends that segment.
  void end_computing();
  /// How long a message that arrives now stays unseen.
  double notice();
  /// For an error: "rank 3 waits for its halo exchange with rank 1".
  std::string wait_in_words();

  const std::vector<ReplayedEpoch>& epochs() const { return epochs_; }

 private:
  class Group;

  bool step(VirtualThread& thread);
  bool take_batch(VirtualThread& thread);
  bool make_batch(std::size_t maker);
  bool explain();
  bool is_explained(int number) const;
  void waited(VirtualThread& thread);
  void end_wait(VirtualThread& thread);
  void compute_on();
  void begin_operation(VirtualThread& thread, int number);

  // The following functions are called by the slots.
  void open() override {}
  void close(bool) override {}
  Rank rank() const override { return rank_; }
  int size() const override { return 0; }
  const std::string& host(Rank) const override { return name_; }
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override;
  void abandon() override {}
  const char* name() const override { return "virtual"; }
  void starts(LaneSlots::Running& running) override;
  void moves(const LaneSlots::Running&) override {}
  void arrives(const LaneSlots::Running& running) override;

  Rank rank_;
  const RankRecording& recording_;
  const Topology& topology_;
  double kernel_speed_;  // speed of its processor, relative to the recording one's (replay.cc)
  VirtualNetwork& network_;
  std::byte* no_values_;
  std::string name_;
  LaneSlots slots_{*this, *this};
  PollPace pace_;
  std::chrono::steady_clock::time_point bulk_arrived_{};  // the last arrival of bulk, in virtual time
  std::vector<std::unique_ptr<Group>> groups_;            // by lane and slot
  std::vector<VirtualThread> threads_;                    // the thread that trains, the makers, the explainer
  VirtualBatches batches_;
  std::vector<int> making_;  // by maker: the batch that it makes; −1: none
  VirtualExplanations explanations_;
  double speed_ = 1, since_ = 0;  // speed of threads that compute; time to which they have been advanced
  double owed_ = 0;               // processor time of messages that computing has yet to pay
  std::vector<ReplayedEpoch> epochs_;
};

}  // namespace atl
