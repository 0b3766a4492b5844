#include "telemetry/pipeline_figures.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "comm/trace.h"

namespace atl {
namespace {

constexpr std::size_t kMostGroups = 64;   // of chunks, in a stage
constexpr std::size_t kMostCells = 2048;  // in all stages

/// One rank's times as they travel: this header, followed by its chunks.
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

/// `ahead`: seconds that the sender's clock is ahead of rank 0's.
Header unpack(const std::vector<std::byte>& bytes, double ahead, std::vector<ChunkTimes>& chunks) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  chunks.resize((bytes.size() - sizeof header) / sizeof(ChunkTimes));
  if (!chunks.empty()) std::memcpy(chunks.data(), bytes.data() + sizeof header, bytes.size() - sizeof header);
  for (ChunkTimes& each : chunks) move(each.forward, -ahead), move(each.backward, -ahead);
  return header;
}

/// Joins neighbours in the epoch's order. Backward begins with the last chunk of a group.
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
