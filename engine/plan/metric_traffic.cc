#include "plan/metric_traffic.h"

#include "comm/all_reduce.h"
#include "telemetry/link_metrics.h"

namespace atl {
namespace {

constexpr Index kWide = 8;  // of a count, a double, a message's size, and a score with its label
constexpr Index kOfAll =
    7;  // sums that every metric needs: each split's part and whole, and the validation loss
constexpr Index kOfAClass = 3;       // hits, predicted, actual
constexpr Index kAreas = 2 * kWide;  // the sum of areas and their number

/// Rank 0 gathers the scores of one class after the other; it sends the areas when it has those of all
/// classes.
std::int64_t area_bytes(int ranks, Rank rank, Index classes, Index scored) {
  const std::int64_t others = ranks - 1;
  const std::int64_t gathered = others * kWide + (rank == 0 ? 0 : scored * kWide);
  return classes * gathered + (rank == 0 ? others * kAreas : 0);
}

}  // namespace

ScoredRows split_counts(const Job& job, const Dataset& dataset, std::span<const VertexId> owned) {
  ScoredRows counts{};
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  for (const VertexId v : owned) {
    const std::uint8_t of = split.at(v, job.dataset.split_column);
    if (of != std::uint8_t(Split::kNone)) ++counts[std::size_t(of) - std::size_t(Split::kTrain)];
  }
  return counts;
}

std::int64_t metric_bytes(const Job& job, const DatasetMeta& meta, int ranks, Rank rank,
                          const ScoredRows& scored) {
  if (ranks == 1) return 0;
  std::int64_t bytes = all_reduce_bytes(ranks, rank, kOfAll, kWide);
  for (const Index of_split : scored) {
    if (job.training.metric == Metric::kRocAuc)
      bytes += area_bytes(ranks, rank, meta.multi_label ? meta.classes : 1, of_split);
    else if (job.training.metric == Metric::kF1Macro)
      bytes += all_reduce_bytes(ranks, rank, kOfAClass * meta.classes, kWide);
  }
  return bytes;
}

std::int64_t pair_metric_bytes(const Job& job, int ranks, Rank rank, const PairSizes& pairs) {
  if (ranks == 1) return 0;
  const std::int64_t others = ranks - 1;
  std::int64_t bytes = others * kWide * pairs.scored_slabs +
                       std::int64_t(pairs.scoring_rows_requested * sizeof(VertexId)) +
                       std::int64_t(pairs.scoring_rows_sent * double(job.model.hidden) * sizeof(Real));
  // Scores of edges and of negative pairs, then the metrics, and the loss.
  bytes += pairs.scored_sets * (2 * others * kWide + all_reduce_bytes(ranks, rank, 1, kWide));
  return bytes + (rank == 0 ? pairs.scored_sets * others * std::int64_t(sizeof(LinkMetrics))
                            : pairs.measured * std::int64_t(sizeof(Real)));
}

}  // namespace atl
