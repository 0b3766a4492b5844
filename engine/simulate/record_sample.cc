#include "simulate/record_sample.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "simulate/cost_law.h"
#include "simulate/dry_recording.h"

namespace atl {
namespace {

constexpr std::size_t kOfEachKind = 2;  // so that one of them can be left out, to see how far its law is off

/// Ranks that do the like work: in a pipeline, a stage's. Each from the one that holds least to the one that holds most.
std::vector<std::vector<Rank>> kinds_of(const std::vector<RankRecording>& ranks,
                                        const std::vector<Sizes>& sizes) {
  std::map<std::set<std::pair<Work, std::int32_t>>, std::vector<Rank>> by_work;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::set<std::pair<Work, std::int32_t>> work;
    for (const RecordedStep& step : ranks[r].steps)
      if (step.kind == RecordedStep::Kind::kCompute) work.emplace(step.label.work, step.label.layer);
    by_work[std::move(work)].push_back(Rank(r));
  }
  const auto held = [&](Rank rank) {
    const Sizes& s = sizes[std::size_t(rank)];
    return std::accumulate(s.begin(), s.end(), 0.0);
  };
  std::vector<std::vector<Rank>> kinds;
  for (auto& [work, kind] : by_work) {
    std::ranges::stable_sort(kind, {}, held);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

/// How many of each kind: kOfEachKind, and the rest where most ranks are that none yet stands for.
std::vector<std::size_t> shares_of(const std::vector<std::vector<Rank>>& kinds, std::size_t count) {
  std::vector<std::size_t> shares;
  for (const auto& kind : kinds) shares.push_back(std::min(kOfEachKind, kind.size()));
  const std::size_t least = std::accumulate(shares.begin(), shares.end(), std::size_t(0));
  if (count < least)
    fail(
        "--sample: {} ranks are too few: ranks do {} kinds of work, as the stages of a pipeline do, and {} of each kind are "
        "recorded (use --sample {} or more, or --alone)",
        count, kinds.size(), kOfEachKind, least);
  for (std::size_t left = count - least; left > 0; --left) {
    const auto alone = [&](std::size_t k) { return double(kinds[k].size()) / double(shares[k]); };
    std::size_t most = 0;
    for (std::size_t k = 1; k < kinds.size(); ++k)
      if (alone(k) > alone(most)) most = k;
    ++shares[most];
  }
  return shares;
}

/// Of each kind evenly by how much they hold, so that laws hold between what is known, not beyond it.
std::vector<Rank> sample_of(const std::vector<std::vector<Rank>>& kinds, std::size_t count) {
  const std::vector<std::size_t> shares = shares_of(kinds, count);
  std::vector<Rank> sample;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (std::size_t i = 0; i < shares[k]; ++i)
      sample.push_back(kinds[k][i * (kinds[k].size() - 1) / std::max<std::size_t>(1, shares[k] - 1)]);
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
  const std::vector<Rank> sample = sample_of(kinds_of(recording.ranks, sizes), std::size_t(options.sample));
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
