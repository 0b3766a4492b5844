#include "plan/simulate/record_sample.h"

#include <algorithm>
#include <numeric>

#include "plan/simulate/cost_law.h"
#include "plan/simulate/dry_recording.h"

namespace atl {
namespace {

/// Evenly by how much they hold, so that laws hold between what is known, not beyond it.
std::vector<Rank> sample_of(const std::vector<Sizes>& sizes, int count) {
  std::vector<Rank> by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  const auto held = [&](Rank rank) {
    const Sizes& s = sizes[std::size_t(rank)];
    return std::accumulate(s.begin(), s.end(), 0.0);
  };
  std::ranges::sort(by_size, {}, held);
  std::vector<Rank> sample;
  for (int i = 0; i < count; ++i)
    sample.push_back(by_size[std::size_t(i) * (by_size.size() - 1) / std::size_t(std::max(1, count - 1))]);
  return sample;
}

}  // namespace

Recording record_sample(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const RecordOptions& options, DryInputs& inputs,
                        const std::function<void(Rank)>& said) {
  Recording recording{.epochs = options.epochs, .at_once = options.at_once, .sampled = options.sample};
  std::vector<Sizes> sizes;
  for (Rank rank = 0; rank < Rank(inputs.ranks()); ++rank) {
    const DryRunInput in = inputs.of(rank);
    sizes.push_back(sizes_of(in.training));
    recording.ranks.push_back(dry_recording(in, options.epochs));
  }
  const std::vector<Rank> sample = sample_of(sizes, options.sample);
  const std::vector<RankRecording> recorded =
      record_alone(job, dataset, prepared, options, sample, recording.spread, said);
  std::vector<CostLaw::Known> known;
  for (std::size_t i = 0; i < sample.size(); ++i)
    known.push_back({sizes[std::size_t(sample[i])], &recorded[i]});
  const CostLaw law(known);
  for (std::size_t r = 0; r < sizes.size(); ++r) law.apply(sizes[r], recording.ranks[r]);
  recording.law_error = left_out_error(known);
  for (std::size_t i = 0; i < sample.size(); ++i) recording.ranks[std::size_t(sample[i])] = recorded[i];
  return recording;
}

}  // namespace atl
