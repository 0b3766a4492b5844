// Gathers the figures that each rank alone knows, when a run ends.
#include "telemetry/rank_meter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "base/members.h"
#include "base/memory.h"
#include "comm/trace.h"
#include "telemetry/run_folder.h"

namespace atl {
namespace {

/// Gathers every rank's values, in rank order.
std::vector<std::int64_t> gather_counts(Communicator& comm, std::span<const std::int64_t> mine) {
  std::vector<std::int64_t> all;
  for (const auto& blob : comm.all_gather(Traffic::kStatistics, std::as_bytes(mine))) {
    if (blob.empty()) continue;
    const std::size_t at = all.size();
    all.resize(at + blob.size() / sizeof(std::int64_t));
    std::memcpy(all.data() + at, blob.data(), blob.size());
  }
  return all;
}

/// Gathers every rank's seconds, by rank.
std::vector<std::vector<double>> gather_seconds(Communicator& comm, const std::vector<double>& mine) {
  std::vector<std::int64_t> nanoseconds;
  for (const double s : mine) nanoseconds.push_back(std::llround(s * 1e9));
  const std::vector<std::int64_t> all = gather_counts(comm, nanoseconds);
  std::vector<std::vector<double>> by_rank(std::size_t(comm.size()));
  for (std::size_t i = 0; i < all.size(); ++i) by_rank[i / mine.size()].push_back(double(all[i]) / 1e9);
  return by_rank;
}

void gather_phases(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record) {
  std::vector<double> mine;
  for (const Phase& phase : phases) mine.push_back(phase.seconds);
  if (mine.empty()) return;
  for (const std::vector<double>& seconds : gather_seconds(comm, mine)) {
    auto& theirs = record.phases_by_rank.emplace_back(phases);
    for (std::size_t i = 0; i < seconds.size(); ++i) theirs[i].seconds = seconds[i];
  }
}

/// This rank's typical epoch, over its steady epochs or, where none is steady, over all epochs since this
/// start.
TypicalEpoch typical_epoch(const RunRecord& record) {
  std::vector<const EpochRecord*> epochs = steady_epochs(record.epochs, record.resumed_from);
  if (epochs.empty())
    for (const EpochRecord& epoch : record.epochs)
      if (epoch.epoch > record.resumed_from) epochs.push_back(&epoch);
  const auto middle = [&](auto seconds_of) {
    std::vector<double> seconds;
    for (const EpochRecord* epoch : epochs) seconds.push_back(seconds_of(*epoch));
    return median(std::move(seconds));
  };
  const auto phase = [&](const char* name) {
    return middle([&](const EpochRecord& e) { return seconds_of_phase(e.own.phases, name); });
  };
  return {.epoch_seconds = middle([](const EpochRecord& e) { return e.epoch_seconds; }),
          .compute_seconds = phase("compute"),
          .exposed_seconds = phase("communication"),
          .communication_seconds = middle([](const EpochRecord& e) { return e.own.communication_seconds; }),
          .progress_cpu_seconds = middle([](const EpochRecord& e) { return e.own.progress_cpu_seconds; })};
}

void gather_typical_epochs(Communicator& comm, RunRecord& record) {
  const TypicalEpoch own = typical_epoch(record);
  std::vector<double> mine;
  each_member<TypicalEpoch>([&](const auto& each) { mine.push_back(own.*each.member); });
  for (const std::vector<double>& seconds : gather_seconds(comm, mine)) {
    TypicalEpoch& theirs = record.typical_by_rank.emplace_back();
    auto next = seconds.begin();
    each_member<TypicalEpoch>([&](const auto& each) { theirs.*each.member = *next++; });
  }
}

/// Bytes that this rank has sent in training, by link and purpose. A resumed rank also holds records of
/// epochs before this start, which don't count here.
std::vector<std::int64_t> sent_in_training(const RunRecord& record) {
  std::vector<std::int64_t> sent(std::size_t{kLinks * kTraffics}, 0);
  for (const EpochRecord& epoch : record.epochs) {
    if (epoch.epoch <= record.resumed_from) continue;
    for (const LinkTraffic& t : epoch.own.traffic)
      for (int l = 0; l < kLinks; ++l)
        for (int p = 0; p < kTraffics; ++p)
          if (t.link == link_name(Link(l)) && t.purpose == traffic_name(Traffic(p)))
            sent[std::size_t(l) * kTraffics + std::size_t(p)] += t.bytes;
  }
  return sent;
}

void sum_training_traffic(Communicator& comm, RunRecord& record) {
  std::vector<std::int64_t> sent = sent_in_training(record);
  comm.all_reduce(Traffic::kStatistics, std::span<std::int64_t>(sent));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == 0) continue;
    record.training_traffic.push_back(
        {link_name(Link(i / kTraffics)), traffic_name(Traffic(i % kTraffics)), sent[i]});
  }
}

}  // namespace

void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record) {
  const std::int64_t peak = process_memory().peak_bytes;
  record.peak_memory_bytes = gather_counts(comm, std::span(&peak, 1));
  const Ledger ledger = comm.ledger();
  std::vector<std::int64_t> to;
  for (int r = 0; r < comm.size(); ++r) to.push_back(ledger.bytes_to(r));
  record.bytes_by_pair = gather_counts(comm, to);
  gather_phases(comm, phases, record);
  gather_typical_epochs(comm, record);
  sum_training_traffic(comm, record);
}

void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record) {
  const std::string text = explained_text(mine);
  const auto all = comm.all_gather(Traffic::kStatistics, std::as_bytes(std::span(text)));
  if (comm.rank() != 0) return;
  for (const auto& bytes : all) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    record.explained.push_back(parse_explained(std::string(first, bytes.size())));
  }
}

namespace {

constexpr std::size_t kMostGroups = 64;   // groups of chunks in a stage
constexpr std::size_t kMostCells = 2048;  // groups of chunks in all stages

/// One rank's times as they are sent: this header, followed by its chunks.
struct Header {
  int stage = 0, convolutions = 0, leads = 0;
};

std::vector<std::byte> packed(const StageTimes& times) {
  const Header header{times.stage, times.convolutions, int(times.leads)};
  std::vector<std::byte> bytes(sizeof header + times.chunks.size_bytes());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!times.chunks.empty())
    std::memcpy(bytes.data() + sizeof header, times.chunks.data(), times.chunks.size_bytes());
  return bytes;
}

void move(ChunkTimes::Span& span, double seconds) {
  span.begin += seconds, span.end += seconds;
}

/// Unpacks a rank's times, and converts them to rank 0's clock. `ahead`: seconds by which the sender's clock
/// is ahead of rank 0's.
Header unpack(const std::vector<std::byte>& bytes, double ahead, std::vector<ChunkTimes>& chunks) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  chunks.resize((bytes.size() - sizeof header) / sizeof(ChunkTimes));
  if (!chunks.empty()) std::memcpy(chunks.data(), bytes.data() + sizeof header, bytes.size() - sizeof header);
  for (ChunkTimes& each : chunks) move(each.forward, -ahead), move(each.backward, -ahead);
  return header;
}

/// Joins neighbouring chunks, in the epoch's order, into `groups` groups. Backward begins with the last chunk
/// of a group.
std::vector<ChunkWork> grouped(std::span<const ChunkTimes> chunks, std::size_t groups, double zero) {
  std::vector<ChunkWork> all;
  for (std::size_t g = 0; g < groups; ++g) {
    const ChunkTimes &first = chunks[g * chunks.size() / groups],
                     &last = chunks[(g + 1) * chunks.size() / groups - 1];
    all.push_back({first.chunk, first.forward.begin - zero, last.forward.end - zero,
                   last.backward.begin - zero, first.backward.end - zero});
  }
  return all;
}

}  // namespace

PipelineEpoch pipeline_epoch(std::span<const StageTimes> ranks) {
  PipelineEpoch epoch;
  double begin = std::numeric_limits<double>::infinity(), end = 0, worked = 0;
  int stages = 0;
  for (const StageTimes& rank : ranks) {
    stages = std::max(stages, rank.stage + 1);
    for (const ChunkTimes& chunk : rank.chunks) {
      begin = std::min(begin, chunk.forward.begin), end = std::max(end, chunk.backward.end);
      worked += chunk.forward.seconds() + chunk.backward.seconds();
    }
  }
  epoch.bubble = std::clamp(1 - worked / double(ranks.size()) / (end - begin), 0.0, 1.0);
  epoch.stages.resize(std::size_t(stages));
  epoch.convolutions.resize(std::size_t(stages));
  for (const StageTimes& rank : ranks) epoch.convolutions[std::size_t(rank.stage)] = rank.convolutions;
  const std::size_t most = std::min(kMostGroups, std::max<std::size_t>(1, kMostCells / epoch.stages.size()));
  for (const StageTimes& rank : ranks)
    if (rank.leads)
      epoch.stages[std::size_t(rank.stage)] = grouped(rank.chunks, std::min(most, rank.chunks.size()), begin);
  return epoch;
}

void gather_pipeline(Communicator& comm, const StageTimes& times, RunRecord& record) {
  const std::vector<ClockOffset> clocks = measure_clock_offsets(comm);
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  to[0] = packed(times);
  const auto from = comm.all_to_all(Traffic::kStatistics, to);
  if (comm.rank() != 0) return;
  std::vector<std::vector<ChunkTimes>> chunks(from.size());
  std::vector<StageTimes> ranks;
  for (std::size_t r = 0; r < from.size(); ++r) {
    const Header header = unpack(from[r], double(clocks[r].ahead) * 1e-9, chunks[r]);
    ranks.push_back({header.stage, header.convolutions, header.leads != 0, chunks[r]});
  }
  record.pipeline = pipeline_epoch(ranks);
  record.pipeline->epoch = record.epochs.back().epoch;
}

}  // namespace atl
