#include "simulate/virtual_rank.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

/// Each slot of the small lane has an order of its own; bulk and prefetch have one each (comm/transports.h).
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
    parts_.clear();
    for (const Message& m : receives)
      parts_.push_back(
          {&network_.receive(m.peer, rank_, lane, order_of(lane, slot), m.bytes, group_), false});
    for (const Message& m : sends)
      parts_.push_back({&network_.send(rank_, m.peer, lane, order_of(lane, slot), m.bytes, group_), true});
  }
  bool done() override { return group_.under_way == 0; }
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
  MessageGroup group_;
};

VirtualRank::VirtualRank(Rank rank, const RankRecording& recording, const Topology& topology,
                         VirtualNetwork& network, double kernel_speed, std::byte* no_values)
    : rank_(rank),
      recording_(recording),
      topology_(topology),
      kernel_speed_(kernel_speed),
      network_(network),
      no_values_(no_values),
      batches_(recording.batches),
      making_(std::size_t(recording.batches.makers), -1) {
  threads_.emplace_back(recording.steps, recording.operations);
  threads_.resize(2 + making_.size());
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

/// Virtual time as a time of the clock with which slots note times.
std::chrono::steady_clock::time_point on_clock(double seconds) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(std::int64_t(seconds * 1e9)));
}

}  // namespace

void VirtualRank::starts(LaneSlots::Running& running) {
  running.since = on_clock(network_.now());
}

/// Learns from an arrival of bulk how long the link takes, as a real progress thread does.
void VirtualRank::arrives(const LaneSlots::Running& running) {
  const auto now = on_clock(network_.now());
  if (running.operation->lane != Lane::kBulk) return;
  const auto begin = std::max(running.since, std::exchange(bulk_arrived_, now));
  pace_.learn(running.operation->bytes, now - begin);
}

/// Half of the time that the progress thread sleeps between two looks: the mean wait of a message.
double VirtualRank::notice() {
  if (!topology_.polls) return 0;
  const auto now = on_clock(network_.now());
  std::chrono::nanoseconds waited = std::chrono::nanoseconds::max();
  slots_.for_each_running([&](const LaneSlots::Running& running) {
    waited = std::min<std::chrono::nanoseconds>(waited, now - running.since);
  });
  return 0.5e-9 * double(pace_.nap(waited, threads_.front().awaited != nullptr).count());
}

void VirtualRank::begin_operation(VirtualThread& thread, int number) {
  const RecordedOperation& recorded = thread.operations[std::size_t(number)];
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
  thread.started[std::size_t(number)] = op;
  slots_.enqueue(std::move(op));
}

void VirtualRank::go_on() {
  const VirtualThread& trains = threads_.front();
  for (bool moved = true; moved;) {
    network_.sums_go_first(rank_, trains.awaited == nullptr || trains.awaited->lane == Lane::kSmall);
    moved = slots_.take_next() && slots_.advance_all();
    moved |= slots_.finish_arrived();
    while (step(threads_.front())) moved = true;
    for (std::size_t maker = 0; maker < making_.size(); ++maker)
      while (make_batch(maker)) moved = true;
    while (explain()) moved = true;
  }
  // Where all processors compute, a computing thread pays for the messages' processor time; otherwise an idle
  // processor does.
  const auto computing = std::ranges::find_if(threads_, &VirtualThread::computes);
  if (computing != threads_.end() && topology_.cores < 1 + this->computing())
    computing->remaining += std::exchange(owed_, 0);
}

/// Lets a maker go on by one step. Returns false where it has nothing to do now.
bool VirtualRank::make_batch(std::size_t maker) {
  VirtualThread& thread = threads_[1 + maker];
  int& batch = making_[maker];
  if (batch >= 0) {
    if (step(thread)) return true;
    if (!thread.is_through()) return false;
    batches_.made(std::exchange(batch, -1));
    return true;
  }
  batch = batches_.claim();
  if (batch < 0) return false;
  const RecordedBatch& next = recording_.batches.all[std::size_t(batch)];
  thread = VirtualThread(next.steps, next.operations);
  return true;
}

/// Lets the explainer go on by one step. Returns false where it has nothing to do now.
bool VirtualRank::explain() {
  VirtualThread& thread = threads_.back();
  VirtualExplanations& e = explanations_;
  if (e.under_way) {
    if (step(thread)) return true;
    if (!thread.is_through()) return false;
    e.under_way = false;
    ++e.ended;
    return true;
  }
  if (e.ended >= e.begun || e.ended >= int(recording_.explanations.size())) return false;
  const RecordedBatch& next = recording_.explanations[std::size_t(e.ended)];
  thread = VirtualThread(next.steps, next.operations);
  return e.under_way = true;
}

/// Whether an explanation has ended. One that wasn't recorded, as the run ended before, holds up no thread.
bool VirtualRank::is_explained(int number) const {
  return number < explanations_.ended || number >= int(recording_.explanations.size());
}

/// Enters a wait that has ended: exposed, if the thread trains. Waiting pays for messages' processor time.
void VirtualRank::waited(VirtualThread& thread) {
  const double seconds = network_.now() - thread.waits_since;
  owed_ = std::max(0.0, owed_ - seconds);
  if (&thread != &threads_.front() || epochs_.empty()) return;
  epochs_.back().end = network_.now();
  if (thread.awaited != nullptr)
    epochs_.back().exposed[std::size_t(thread.awaited->purpose)] += seconds;
  else
    epochs_.back().without_batch += seconds;
}

void VirtualRank::end_wait(VirtualThread& thread) {
  waited(thread);
  thread.started[std::size_t(thread.awaited_number)] = nullptr;
  thread.awaited = nullptr;
}

bool VirtualRank::take_batch(VirtualThread& thread) {
  if (!thread.wants_batch) thread.waits_since = network_.now();
  thread.wants_batch = !batches_.take();
  if (!thread.wants_batch) waited(thread);
  return !thread.wants_batch;
}

/// Takes a thread's next step. Returns false where the thread can't: it computes, waits or is through.
bool VirtualRank::step(VirtualThread& thread) {
  if (thread.awaited != nullptr) {
    if (!thread.awaited->finished.load(std::memory_order_relaxed)) return false;
    end_wait(thread);
  }
  if (thread.computes() || thread.at == thread.steps.size()) return false;
  const RecordedStep& next = thread.steps[thread.at];
  if (next.kind == RecordedStep::Kind::kTake && !take_batch(thread)) return false;
  if (next.kind == RecordedStep::Kind::kExplained && !is_explained(next.operation)) return false;
  ++thread.at;
  switch (next.kind) {
    case RecordedStep::Kind::kEpoch:
      epochs_.emplace_back();
      break;
    case RecordedStep::Kind::kCompute:
      compute_on();
      thread.remaining = next.seconds / kernel_speed_;
      break;
    case RecordedStep::Kind::kStart:
      begin_operation(thread, next.operation);
      break;
    case RecordedStep::Kind::kWait:
      thread.awaited = thread.started[std::size_t(next.operation)].get();
      thread.awaited_number = next.operation, thread.waits_since = network_.now();
      break;
    case RecordedStep::Kind::kExplain:
      explanations_.begun = next.operation + 1;
      break;
    case RecordedStep::Kind::kTake:
    case RecordedStep::Kind::kExplained:
      break;
  }
  if (!epochs_.empty() && &thread == &threads_.front()) epochs_.back().end = network_.now();
  return true;
}

int VirtualRank::computing() const {
  return int(std::ranges::count_if(threads_, &VirtualThread::computes));
}

double VirtualRank::computed_at() const {
  double first = std::numeric_limits<double>::infinity();
  for (const VirtualThread& thread : threads_)
    if (thread.computes()) first = std::min(first, since_ + thread.remaining / speed_);
  return first;
}

/// Advances the threads' computing to the present time.
void VirtualRank::compute_on() {
  const double passed = network_.now() - std::exchange(since_, network_.now());
  if (threads_.front().computes() && !epochs_.empty())
    epochs_.back().compute += passed, epochs_.back().end = network_.now();
  // A thread that is almost through keeps a tiny remainder, so that its event still comes.
  for (VirtualThread& thread : threads_)
    if (thread.computes())
      thread.remaining = std::max(std::numeric_limits<double>::min(), thread.remaining - passed * speed_);
}

void VirtualRank::set_processors(double processors) {
  const double speed = std::min(1.0, processors / std::max(1, computing()));
  if (speed != speed_) compute_on();
  speed_ = speed;
}

void VirtualRank::end_computing() {
  const double now = computed_at();
  std::vector<VirtualThread*> through;
  for (VirtualThread& thread : threads_)
    if (thread.computes() && since_ + thread.remaining / speed_ <= now) through.push_back(&thread);
  compute_on();
  for (VirtualThread* const thread : through) thread->remaining = 0;
}

std::string VirtualRank::wait_in_words() {
  const Operation* const awaited = threads_.front().awaited;
  if (threads_.front().wants_batch) return fmt::format("rank {} waits for its next batch", rank_);
  if (awaited == nullptr) return fmt::format("rank {} computes", rank_);
  std::string peers;
  slots_.for_each_running([&](const LaneSlots::Running& running) {
    if (running.operation.get() != awaited || running.pending == nullptr) return;
    for (const Rank peer : running.pending->outstanding())
      peers += fmt::format("{}{}", peers.empty() ? "" : ", ", peer);
  });
  return fmt::format("rank {} waits for its {} exchange{}", rank_, traffic_name(awaited->purpose),
                     peers.empty() ? "" : " with rank " + peers);
}

}  // namespace atl
