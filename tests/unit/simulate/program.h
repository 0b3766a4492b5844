// Programs of ranks, written by hand, on simple servers.
#pragma once

#include <utility>
#include <vector>

#include "simulate/simulation.h"

namespace atl {

inline constexpr std::int64_t kMegabyte = 1'000'000;
inline constexpr double kClose = 2e-3;  // seconds: a message that has arrived is seen up to 50 µs later

/// A rank's program, written by hand.
class Program {
 public:
  Program& compute(double seconds) {
    rank_.steps.push_back({.kind = RecordedStep::Kind::kCompute, .seconds = seconds});
    return *this;
  }
  Program& epoch(std::int64_t number) {
    rank_.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = number}});
    return *this;
  }
  /// Returns the operation's number.
  int exchange(std::vector<RecordedMessage> sends, std::vector<RecordedMessage> receives,
               Lane lane = Lane::kBulk) {
    return start({.lane = lane, .sends = std::move(sends), .receives = std::move(receives)});
  }
  int sum(Rank place, int ranks, Index bytes) {
    return start({.sums = true, .place = place, .ranks = ranks, .count = bytes / 4, .width = 4});
  }
  Program& wait(int operation) {
    rank_.steps.push_back({.kind = RecordedStep::Kind::kWait, .operation = operation});
    return *this;
  }
  Program& makers(int count, int ahead) {
    rank_.batches.makers = count, rank_.batches.ahead = ahead;
    return *this;
  }
  /// Adds the making of the next batch.
  Program& batch(const Program& made) {
    rank_.batches.all.push_back({made.rank_.steps, made.rank_.operations});
    return *this;
  }
  Program& take() {
    rank_.steps.push_back({.kind = RecordedStep::Kind::kTake});
    return *this;
  }
  /// Explanation `number` may begin; the next one waits for its end; explanation() adds the making of one.
  Program& explain(int number) { return explaining(RecordedStep::Kind::kExplain, number); }
  Program& explained(int number) { return explaining(RecordedStep::Kind::kExplained, number); }
  Program& explanation(const Program& made) {
    rank_.explanations.push_back({made.rank_.steps, made.rank_.operations});
    return *this;
  }
  const RankRecording& recording() const { return rank_; }

 private:
  Program& explaining(RecordedStep::Kind kind, int number) {
    rank_.steps.push_back({.kind = kind, .operation = number});
    return *this;
  }
  int start(RecordedOperation operation) {
    rank_.operations.push_back(std::move(operation));
    const int number = int(rank_.operations.size()) - 1;
    rank_.steps.push_back({.kind = RecordedStep::Kind::kStart, .operation = number});
    return number;
  }
  RankRecording rank_;
};

/// Servers with one rank each, 1 MB/s.
inline Topology servers(int count, double cores = 1) {
  Topology t{.name = "test", .cores = cores};
  for (Rank r = 0; r < count; ++r) t.servers.push_back({"server", {r}, 1e6});
  return t;
}

/// (ranks) when each one ends.
inline std::vector<double> ends(const std::vector<Program>& programs, const Topology& topology) {
  Recording recording;
  for (const Program& each : programs) recording.ranks.push_back(each.recording());
  std::vector<double> all;
  for (const auto& rank : replay(recording, topology).ranks) all.push_back(rank.back().end);
  return all;
}

}  // namespace atl
