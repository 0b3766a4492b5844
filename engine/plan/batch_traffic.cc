#include "plan/batch_traffic.h"

#include <algorithm>
#include <functional>

#include "sampler/feature_store.h"
#include "sampler/row_draws.h"

namespace atl {
namespace {

constexpr Index kReal = sizeof(Real);
constexpr Index kSizeBytes = 8;  // in which one rank tells another how many rows it wants

}  // namespace

BatchTraffic::BatchTraffic(const Job& job, const PreparedGraph& prepared, const Owners& owners,
                           Index features)
    : owners_(owners),
      ranks_(owners.ranks()),
      mapped_(job.strategy.options.text("structure") == "mapped"),
      weighted_(prepared.graph().weights != nullptr),
      features_(features),
      value_bytes_(job.strategy.wire == Precision::kBFloat16 ? 2 : kReal),
      cached_rows_(cache_rows(owners, job.strategy.options.integer("cache.bytes"), features)),
      bytes_(std::size_t(ranks_) * std::size_t(ranks_)) {}

/// A batch's row sets (SharedRows).
std::span<const VertexId> BatchTraffic::row_set(const Batch& batch, int set) {
  const Index rows = set == 0 ? Index(batch.seeds().size()) : batch.input_rows(batch.layers() - set);
  return batch.rows().first(std::size_t(rows));
}
/// What a batch asks of other ranks and what they answer, but for features.
void BatchTraffic::add_drawing(const Batch& batch, Rank rank, Normalisation normalisation, double times) {
  if (mapped_) return;
  const bool symmetric = normalisation == Normalisation::kSymmetric;
  for (Rank owner = 0; owner < ranks_; ++owner) {
    add(rank, owner, Traffic::kIds, times * kSizeBytes);
    add(rank, owner, Traffic::kStructure, times * double(kSizeBytes * batch.layers()));
  }
  for (const VertexId row : batch.rows()) {
    const Rank owner = owners_.owner_of(row);
    add(rank, owner, Traffic::kIds, times * 4);
    add(owner, rank, Traffic::kIds, times * (symmetric ? 12 : 4));
  }
  for (int hop = 0; hop < batch.layers(); ++hop) {
    const CsrView arcs = batch.block(hop).arcs;
    for (Index d = 0; d < arcs.rows; ++d) {
      const Rank owner = owners_.owner_of(batch.rows()[std::size_t(d)]);
      add(rank, owner, Traffic::kStructure, times * 4);
      const double drawn = double(arcs.offsets[d + 1] - arcs.offsets[d]);
      add(owner, rank, Traffic::kStructure, times * (double(sizeof(RowHead)) + drawn * (weighted_ ? 8 : 4)));
    }
  }
}

/// Row numbers to their owners, and how many compute each back.
void BatchTraffic::add_shares(const Batch& batch, Rank rank, double times) {
  for (int set = 0; set <= batch.layers(); ++set) {
    for (Rank owner = 0; owner < ranks_; ++owner) add(rank, owner, Traffic::kIds, times * kSizeBytes);
    for (const VertexId row : row_set(batch, set)) {
      add(rank, owners_.owner_of(row), Traffic::kIds, times * 4);
      add(owners_.owner_of(row), rank, Traffic::kIds, times * 4);
    }
  }
}

/// Features of others' rows, less those that the cache will have, which are those that are read most often.
void BatchTraffic::add_features(const std::map<VertexId, Index>& reads, Rank rank, std::int64_t drawn,
                                double times) {
  std::vector<std::pair<Index, VertexId>> by_reads;
  for (const auto& [row, count] : reads) by_reads.push_back({count, row});
  std::ranges::sort(by_reads, std::greater());
  for (std::size_t i = 0; i < by_reads.size(); ++i) {
    if (Index(i) < cached_rows_) continue;
    const auto [count, row] = by_reads[i];
    const Rank owner = owners_.owner_of(row);
    add(rank, owner, Traffic::kFeatures, times * double(count) * 4);
    add(owner, rank, Traffic::kFeatures, times * double(count * features_ * value_bytes_));
  }
  for (Rank owner = 0; owner < ranks_; ++owner)
    add(rank, owner, Traffic::kFeatures, times * double(drawn * kSizeBytes));
}

}  // namespace atl
