#include "telemetry/rank_meter.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/memory.h"

namespace atl {
namespace {

/// Whether bytes of this purpose count as training. Those of checkpoints between two steps don't.
bool counts(int purpose) {
  return Traffic(purpose) != Traffic::kCheckpoint;
}

/// Seconds in which the compute thread stood waiting.
double exposed_seconds(const Ledger& ledger) {
  double sum = 0;
  for (int p = 0; p < kTraffics; ++p)
    if (counts(p)) sum += ledger.exposed_seconds(Traffic(p));
  return sum;
}

/// Whether bytes of this purpose are for batches. Batches are made ahead of time: bytes sent for them during
/// an evaluation, which sends none of these purposes itself, count in the next epoch.
bool is_of_batches(int purpose) {
  constexpr std::array kOfBatches{Traffic::kStructure, Traffic::kIds, Traffic::kFeatures, Traffic::kPair};
  return std::ranges::find(kOfBatches, Traffic(purpose)) != kOfBatches.end();
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RankMeter::RankMeter(const Communicator& comm) : comm_(comm), before_(comm.ledger()), after_(before_) {}

void RankMeter::begin_epoch() {
  before_ = comm_.ledger();
  batches_before_ = has_begun_ ? after_ : before_;
  has_begun_ = true;
  communicated_ = comm_.communication_seconds();
  progress_cpu_ = comm_.progress_cpu_seconds();
  began_ = steady_seconds();
  trains_ = true;
}

void RankMeter::end_step() {
  after_ = comm_.ledger();
}

double RankMeter::seconds_so_far() const {
  return steady_seconds() - began_;
}

/// Bytes of the epoch so far.
std::int64_t RankMeter::bytes_sent(Link link, int purpose) const {
  const Ledger& before = is_of_batches(purpose) ? batches_before_ : before_;
  return counts(purpose) ? after_.bytes(link, Traffic(purpose)) - before.bytes(link, Traffic(purpose)) : 0;
}

std::int64_t RankMeter::bytes_sent(Link link) const {
  std::int64_t sum = 0;
  for (int p = 0; p < kTraffics; ++p) sum += bytes_sent(link, p);
  return sum;
}

void RankMeter::begin_checkpoint() {
  paused_ = steady_seconds();
  paused_communication_ = comm_.communication_seconds();
  paused_cpu_ = comm_.progress_cpu_seconds();
}

void RankMeter::end_checkpoint() {
  const double seconds = steady_seconds() - paused_;
  checkpoint_seconds_ += seconds;
  if (!trains_) return;
  began_ += seconds;
  communicated_ += comm_.communication_seconds() - paused_communication_;
  progress_cpu_ += comm_.progress_cpu_seconds() - paused_cpu_;
}

void RankMeter::end_sums() {
  trained_ = steady_seconds();
  trains_ = false;
  exposed_ = exposed_seconds(comm_.ledger()) - exposed_seconds(before_);
  communicated_ = comm_.communication_seconds() - communicated_;
  progress_cpu_ = comm_.progress_cpu_seconds() - progress_cpu_;
}

RankSample RankMeter::end_epoch(const std::optional<BatchCounts>& batches) {
  RankSample s;
  if (batches) {
    s.batches = *batches - batches_;
    batches_ = *batches;
  }
  const double waited = s.batches ? s.batches->waited_seconds : 0;
  s.phases = {{"compute", training_seconds() - exposed_ - waited},
              {"communication", exposed_},
              {"evaluation", steady_seconds() - trained_},
              {"checkpoint", checkpoint_seconds_}};
  if (s.batches) s.phases.push_back({"batch wait", waited});
  checkpoint_seconds_ = 0;
  phases_.resize(s.phases.size());
  for (std::size_t i = 0; i < s.phases.size(); ++i) {
    phases_[i].name = s.phases[i].name;
    phases_[i].seconds += s.phases[i].seconds;
  }
  for (int l = 0; l < kLinks; ++l)
    for (int p = 0; p < kTraffics; ++p)
      if (const std::int64_t bytes = bytes_sent(Link(l), p); bytes > 0)
        s.traffic.push_back({link_name(Link(l)), traffic_name(Traffic(p)), bytes});
  s.communication_seconds = communicated_;
  s.progress_cpu_seconds = progress_cpu_;
  s.resident_bytes = process_memory().resident_bytes;
  return s;
}

std::vector<Phase> RankMeter::phases() const {
  std::vector<Phase> phases = phases_;
  for (Phase& p : phases) {
    if (p.name == "checkpoint") p.seconds += checkpoint_seconds_;  // since the last epoch's figures
  }
  return phases;
}

}  // namespace atl
