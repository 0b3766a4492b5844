// One rank of a replay: its program, as recorded, and its side of the network, driven by the same slots as a real rank's.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "comm/lane_slots.h"
#include "comm/poll_pace.h"
#include "plan/simulate/network.h"
#include "plan/simulate/replay.h"

namespace atl {

class VirtualRank final : private Transport, private LaneSlots::Watcher {
 public:
  /// All outlive it. `no_values`: where a sum's values would be, never touched.
  VirtualRank(Rank rank, const RankRecording& recording, const Topology& topology, VirtualNetwork& network,
              std::byte* no_values);
  ~VirtualRank() override;

  /// Goes on with all that can, now: messages, then the program until it computes or waits.
  void go_on();
  /// Computing goes on at this speed, from now on.
  void set_speed(double speed);
  bool computes() const { return remaining_ > 0; }
  bool is_through() const { return remaining_ <= 0 && awaited_ == nullptr && at_ == recording_.steps.size(); }
  /// When it will have computed, at the present speed; infinite: it doesn't compute.
  double computed_at() const;
  /// It has computed: now is computed_at().
  void end_computing();
  /// How long a message that comes now stays unseen.
  double notice();
  /// "rank 3 waits for its halo exchange with rank 1": for an error.
  std::string wait_in_words();

  const std::vector<ReplayedEpoch>& epochs() const { return epochs_; }

 private:
  class Group;

  bool step();
  void compute_on();
  void begin_operation(int number);

  // As the slots see it:
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
  VirtualNetwork& network_;
  std::byte* no_values_;
  std::string name_;
  LaneSlots slots_{*this, *this};
  PollPace pace_;
  std::chrono::steady_clock::time_point bulk_arrived_{};  // the last of them, in virtual time
  std::vector<std::unique_ptr<Group>> groups_;            // by lane and slot
  std::vector<std::shared_ptr<Operation>> operations_;    // started, by number; null once waited for
  std::size_t at_ = 0;                                    // the next step
  double remaining_ = 0, speed_ = 1, since_ = 0;          // of the segment that it computes
  double owed_ = 0;  // processor time of messages, that its computing pays
  const Operation* awaited_ = nullptr;
  int awaited_number_ = -1;
  double waits_since_ = 0;
  std::vector<ReplayedEpoch> epochs_;
};

}  // namespace atl
