#include "plan/simulate/virtual_rank.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

/// As messages match (comm/transport.h): within a slot of the small lane, within bulk, within prefetch.
constexpr int order_of(Lane lane, int slot) {
  return lane == Lane::kSmall ? slot : -int(lane);
}

}  // namespace

/// A started group of messages.
class VirtualRank::Group final : public Pending {
 public:
  Group(VirtualNetwork& network, Rank rank) : network_(network), rank_(rank) {}

  void start(Lane lane, int slot, std::span<const Message> sends, std::span<const Message> receives) {
    for (const Part& part : parts_) network_.release(*part.transfer);
    parts_.clear(), through_ = 0;
    for (const Message& m : receives)
      parts_.push_back({&network_.receive(m.peer, rank_, lane, order_of(lane, slot), m.bytes), false});
    for (const Message& m : sends)
      parts_.push_back({&network_.send(rank_, m.peer, lane, order_of(lane, slot), m.bytes), true});
  }
  bool done() override {
    while (through_ < parts_.size() && parts_[through_].is_done()) ++through_;
    return through_ == parts_.size();
  }
  std::vector<Rank> outstanding() const override {
    std::vector<Rank> ranks;
    for (const Part& part : parts_)
      if (!part.is_done()) ranks.push_back(part.sends ? part.transfer->to : part.transfer->from);
    return ranks;
  }
  std::int64_t moved() const override { return 0; }

 private:
  struct Part {
    Transfer* transfer;
    bool sends;
    bool is_done() const { return sends ? transfer->left : transfer->arrived; }
  };
  VirtualNetwork& network_;
  Rank rank_;
  std::vector<Part> parts_;
  std::size_t through_ = 0;  // so many of them are done: none is looked at twice
};

VirtualRank::VirtualRank(Rank rank, const RankRecording& recording, const Topology& topology,
                         VirtualNetwork& network, std::byte* no_values)
    : rank_(rank),
      recording_(recording),
      topology_(topology),
      network_(network),
      no_values_(no_values),
      operations_(recording.operations.size()) {
  for (int i = 0; i < kLanes * kSlots; ++i) groups_.push_back(std::make_unique<Group>(network, rank));
}

VirtualRank::~VirtualRank() = default;

Pending& VirtualRank::start(Lane lane, int slot, std::span<const Message> sends,
                            std::span<const Message> receives) {
  for (const auto& messages : {sends, receives})
    for (const Message& m : messages) owed_ += network_.processor_seconds(rank_, m.peer, m.bytes);
  Group& group = *groups_[std::size_t(lane) * kSlots + std::size_t(slot)];
  group.start(lane, slot, sends, receives);
  return group;
}

namespace {

/// Virtual time on the clock that slots note times by.
std::chrono::steady_clock::time_point on_clock(double seconds) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(std::int64_t(seconds * 1e9)));
}

}  // namespace

void VirtualRank::starts(LaneSlots::Running& running) {
  running.since = on_clock(network_.now());
}

/// As the progress thread learns how long the link takes.
void VirtualRank::arrives(const LaneSlots::Running& running) {
  const auto now = on_clock(network_.now());
  if (running.operation->lane != Lane::kBulk) return;
  const auto begin = std::max(running.since, std::exchange(bulk_arrived_, now));
  pace_.learn(running.operation->bytes, now - begin);
}

/// Half of the time that the progress thread sleeps between two looks.
double VirtualRank::notice() {
  if (!topology_.polls) return 0;
  const auto now = on_clock(network_.now());
  std::chrono::nanoseconds waited = std::chrono::nanoseconds::max();
  slots_.for_each_running([&](const LaneSlots::Running& running) {
    waited = std::min<std::chrono::nanoseconds>(waited, now - running.since);
  });
  return 0.5e-9 * double(pace_.nap(waited, awaited_ != nullptr).count());
}

void VirtualRank::begin_operation(int number) {
  const RecordedOperation& recorded = recording_.operations[std::size_t(number)];
  auto op = std::make_shared<Operation>();
  op->lane = recorded.lane, op->purpose = recorded.purpose;
  op->sums = recorded.sums, op->of_everyone = recorded.of_everyone;
  if (recorded.sums) {
    const SumShape shape{recorded.members, recorded.place, recorded.ranks, recorded.count, recorded.width};
    op->all_reduce.begin(shape, no_values_, nullptr, no_values_, op->sends, op->receives);
  } else {
    for (const auto& [peer, bytes] : recorded.sends) op->sends.push_back({peer, no_values_, bytes});
    for (const auto& [peer, bytes] : recorded.receives) op->receives.push_back({peer, no_values_, bytes});
  }
  for (const Message& m : op->sends) op->bytes += m.bytes;
  operations_[std::size_t(number)] = op;
  slots_.enqueue(std::move(op));
}

void VirtualRank::go_on() {
  for (bool moved = true; moved;) {
    network_.sums_go_first(rank_, awaited_ == nullptr || awaited_->lane == Lane::kSmall);
    moved = slots_.take_next() && slots_.advance_all();
    moved |= slots_.finish_arrived();
    while (step()) moved = true;
  }
  // On a single core, what messages took is missing from computing; else another core pays it.
  if (computes() && topology_.cores < 2) remaining_ += std::exchange(owed_, 0);
}

/// False where the program stands: it computes, waits or is through.
bool VirtualRank::step() {
  if (awaited_ != nullptr) {
    if (!awaited_->finished.load(std::memory_order_relaxed)) return false;
    const Traffic purpose = awaited_->purpose;
    if (!epochs_.empty()) {
      epochs_.back().exposed[std::size_t(purpose)] += network_.now() - waits_since_;
      epochs_.back().end = network_.now();
    }
    operations_[std::size_t(awaited_number_)] = nullptr;
    awaited_ = nullptr;
    owed_ = std::max(0.0, owed_ - (network_.now() - waits_since_));  // paid while it stood
  }
  if (remaining_ > 0 || at_ == recording_.steps.size()) return false;
  const RecordedStep& next = recording_.steps[at_++];
  switch (next.kind) {
    case RecordedStep::Kind::kEpoch:
      epochs_.emplace_back();
      break;
    case RecordedStep::Kind::kCompute:
      remaining_ = next.seconds / topology_.speed;
      since_ = network_.now();
      break;
    case RecordedStep::Kind::kStart:
      begin_operation(next.operation);
      break;
    case RecordedStep::Kind::kWait:
      awaited_ = operations_[std::size_t(next.operation)].get();
      awaited_number_ = next.operation, waits_since_ = network_.now();
      break;
  }
  if (!epochs_.empty()) epochs_.back().end = network_.now();
  return true;
}

double VirtualRank::computed_at() const {
  if (remaining_ <= 0) return std::numeric_limits<double>::infinity();
  return since_ + remaining_ / speed_;
}

/// What it has computed by now.
void VirtualRank::compute_on() {
  const double passed = network_.now() - std::exchange(since_, network_.now());
  if (!epochs_.empty()) epochs_.back().compute += passed, epochs_.back().end = network_.now();
  // Where it is as good as through, it still has to be told so.
  remaining_ = std::max(std::numeric_limits<double>::min(), remaining_ - passed * speed_);
}

void VirtualRank::set_speed(double speed) {
  if (computes() && speed != speed_) compute_on();
  speed_ = speed;
}

void VirtualRank::end_computing() {
  compute_on();
  remaining_ = 0;
}

std::string VirtualRank::wait_in_words() {
  if (awaited_ == nullptr) return fmt::format("rank {} computes", rank_);
  std::string peers;
  slots_.for_each_running([&](const LaneSlots::Running& running) {
    if (running.operation.get() != awaited_ || running.pending == nullptr) return;
    for (const Rank peer : running.pending->outstanding())
      peers += fmt::format("{}{}", peers.empty() ? "" : ", ", peer);
  });
  return fmt::format("rank {} waits for its {} exchange{}", rank_, traffic_name(awaited_->purpose),
                     peers.empty() ? "" : " with rank " + peers);
}

}  // namespace atl
