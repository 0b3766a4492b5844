// Decides what a segment costs. Work that every epoch repeats (a layer's work on a chunk or batch that every
// epoch has) costs the median of its seconds. Mini-batches are drawn anew in each epoch. Batches at the same
// place in their epochs cost their mean, because a median would leave out the cost of large ones.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "simulate/record.h"
#include "telemetry/record.h"

namespace atl {
namespace {

using SameWork = std::tuple<Work, std::int32_t, int>;  // layer, unit
using Segments = std::vector<RecordedStep*>;           // of one kind of work in one epoch, in order

std::map<SameWork, std::map<std::int64_t, Segments>> segments_of(RankRecording& rank) {
  std::map<SameWork, std::map<std::int64_t, Segments>> found;
  std::int64_t epoch = 0;
  for (RecordedStep& step : rank.steps) {
    if (step.kind == RecordedStep::Kind::kEpoch) epoch = step.label.epoch;
    if (step.kind == RecordedStep::Kind::kCompute)
      found[{step.label.work, step.label.layer, step.unit}][epoch].push_back(&step);
  }
  return found;
}

/// The most frequent number of segments in an epoch, among epochs after the first.
std::size_t usual_count(const std::map<std::int64_t, Segments>& by_epoch) {
  std::map<std::size_t, int> epochs;
  for (const auto& [epoch, segments] : by_epoch)
    if (epoch > 1) ++epochs[segments.size()];
  const auto most = std::ranges::max_element(epochs, {}, [](const auto& each) { return each.second; });
  return most == epochs.end() ? 0 : most->first;
}

double mean(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0) / double(std::max<std::size_t>(1, all.size()));
}

struct Deviation {
  double seconds = 0, of = 0;
};

void settle(std::map<std::int64_t, Segments>& by_epoch, bool drawn_anew, Deviation& deviation) {
  const std::size_t count = usual_count(by_epoch);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> all;
    for (const auto& [epoch, segments] : by_epoch)
      if (epoch > 1 && segments.size() == count) all.push_back(segments[i]->seconds);
    const double middle = drawn_anew ? mean(all) : median(all);
    for (const double each : all) deviation.seconds += std::abs(each - middle), deviation.of += middle;
    for (auto& [epoch, segments] : by_epoch)
      if (segments.size() == count) segments[i]->seconds = middle;
  }
}

/// Settles the costs of batches that have the same place in their epochs.
void settle(RecordedBatches& batches, std::int64_t in_epoch, Deviation& deviation) {
  for (std::int64_t place = 0; place < in_epoch; ++place) {
    std::map<std::int64_t, Segments> by_epoch;
    for (std::size_t b = std::size_t(place); b < batches.all.size(); b += std::size_t(in_epoch))
      for (RecordedStep& step : batches.all[b].steps)
        if (step.kind == RecordedStep::Kind::kCompute)
          by_epoch[1 + std::int64_t(b) / in_epoch].push_back(&step);
    settle(by_epoch, true, deviation);
  }
}

/// The number of batches that the rank takes in its first epoch, and so in every epoch.
std::int64_t batches_in_epoch(const RankRecording& rank) {
  std::int64_t taken = 0, epoch = 0;
  for (const RecordedStep& step : rank.steps) {
    if (step.kind == RecordedStep::Kind::kEpoch) epoch = step.label.epoch;
    if (epoch == 1 && step.kind == RecordedStep::Kind::kTake) ++taken;
  }
  return taken;
}

}  // namespace

double settle_costs(RankRecording& rank) {
  Deviation deviation;
  const std::int64_t batches = batches_in_epoch(rank);
  for (auto& [work, by_epoch] : segments_of(rank)) settle(by_epoch, batches > 0, deviation);
  settle(rank.batches, batches, deviation);
  return deviation.of > 0 ? deviation.seconds / deviation.of : 0;
}

}  // namespace atl
