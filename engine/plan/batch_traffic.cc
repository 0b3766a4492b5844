#include "plan/batch_traffic.h"

#include <algorithm>

#include "job/strategies/batch_options.h"
#include "sampler/feature_store.h"
#include "sampler/structure.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

constexpr Index kCountBytes = 8;  // bytes of the message in which a rank says how many rows it wants

}  // namespace

Index cache_bytes(const Job& job) {
  const Options& given = job.strategy.options;
  return given.has("cache.bytes") ? given.integer("cache.bytes") : 0;
}

RowBytes row_bytes_of(const Job& job, const FeatureShape& features) {
  return atl::row_bytes(features.held, features.columns, features.nonzeros_per_row,
                        job.wire() == Precision::kBFloat16, 1, features.storage);
}

FeatureMessages::FeatureMessages(const Dataset& dataset, const BatchSource& source,
                                 const FeatureShape& features, bool bfloat16, double chosen)
    : entries_(features.held == FeatureForm::kSparse && dataset.meta().feature_form == FeatureForm::kSparse
                   ? &dataset
                   : nullptr),
      ids_(source.ids()),
      fixed_(
          row_bytes(features.held, features.columns, features.nonzeros_per_row, bfloat16, chosen).message) {
  if (entries_ != nullptr)
    entry_ = row_bytes(features.held, features.columns, 1, bfloat16, chosen).message - 4;
}

BatchTraffic::BatchTraffic(const Job& job, const Dataset& dataset, const BatchSource& source,
                           const Owners& owners, const FeatureShape& features)
    : source_(source),
      owners_(owners),
      ranks_(owners.ranks()),
      mapped_(job_sampling(job, dataset.meta().vertices).mapped),
      weighted_(source.weighted()),
      fetched_(chosen_columns(feature_rate(job, features.columns), features.columns)),
      row_(dataset, source, features, job.wire() == Precision::kBFloat16,
           double(fetched_) / double(features.columns)),
      cached_rows_(cache_rows(owners, cache_bytes(job), row_bytes_of(job, features))),
      feature_answers_(features.held == FeatureForm::kSparse ? 2 : 1),  // sparse rows: counts, then entries
      bytes_(std::size_t(ranks_) * std::size_t(ranks_)) {}

/// The row set `set` of a batch (SharedRows).
std::span<const VertexId> BatchTraffic::row_set(const Batch& batch, int set) {
  const Index rows = set == 0 ? Index(batch.seeds().size()) : batch.input_rows(batch.layers() - set);
  return batch.rows().first(std::size_t(rows));
}
/// Adds the requests to other ranks while a batch is drawn, and their answers, without features.
void BatchTraffic::add_drawing(const Batch& batch, Rank rank, const Asked& asked, double times) {
  if (mapped_) return;
  std::vector<VertexId> described(batch.rows().begin(), batch.rows().end());
  for (int hop = 0; hop < batch.layers(); ++hop) {
    const auto rows = batch.rows().first(std::size_t(batch.output_rows(hop)));
    add_asking(rank, Traffic::kStructure, rows, 2, times);  // first the numbers of arcs, then the arcs
    const auto leaves = batch.leaves(hop).rows.span();
    described.insert(described.end(), leaves.begin(), leaves.end());
  }
  add_asking(rank, Traffic::kIds, described, 1, times);
  const bool symmetric = asked.normalisation == Normalisation::kSymmetric;
  for (Rank owner = 0; owner < ranks_; ++owner) {
    add(rank, owner, Traffic::kIds, times * kCountBytes);
    add(rank, owner, Traffic::kStructure, times * double(kCountBytes * batch.layers()));
  }
  const auto describe = [&](std::span<const VertexId> rows) {
    for (const VertexId row : rows) {
      const Rank owner = owners_.owner_of(row);
      add(rank, owner, Traffic::kIds, times * 4);
      add(owner, rank, Traffic::kIds, times * (symmetric ? 12 : 4));
    }
  };
  describe(batch.rows());
  for (int hop = 0; hop < batch.layers(); ++hop) describe(batch.leaves(hop).rows.span());
  for (int hop = 0; hop < batch.layers(); ++hop) {
    const CsrView arcs = batch.block(hop).arcs;
    for (Index d = 0; d < arcs.rows; ++d) {
      const Rank owner = owners_.owner_of(batch.rows()[std::size_t(d)]);
      add(rank, owner, Traffic::kStructure, times * 4);
      const double drawn = double(arcs.offsets[d + 1] - arcs.offsets[d]);
      add(owner, rank, Traffic::kStructure,
          times * (double(sizeof(NeighbourCounts)) + drawn * (weighted_ || asked.weights ? 8 : 4)));
    }
  }
}

void BatchTraffic::add_asking(Rank rank, Traffic purpose, std::span<const VertexId> rows, int answers,
                              double times) {
  const bool asks = std::ranges::any_of(rows, [&](VertexId row) { return !owners_.owns(rank, row); });
  add_rounds(rank, purpose, times * (asks ? 2 + answers : 1));
}

void BatchTraffic::add_sets(const StepSets& sets, double times) {
  sets.count_sent(owners_, [&](Rank from, Rank to, Index bytes) {
    add(from, to, Traffic::kStructure, times * double(bytes));
    if (to == 1) add_rounds(from, Traffic::kStructure, times);
  });
}

void BatchTraffic::add_pushes(const PushedRows& leaving, Rank rank, double times) {
  const auto layers = double(leaving.counts.size()) / double(ranks_);
  add_rounds(rank, Traffic::kIds, times * 2);
  for (Rank peer = 0; peer < ranks_; ++peer)
    add(rank, peer, Traffic::kIds,
        times * (kCountBytes * layers + double(leaving.of(peer, 0).size() * sizeof(VertexId))));
}

double BatchTraffic::add_push(const PushedSizes& sizes, const GroupBatchOptions& options,
                              const ColumnShare& share, double times) {
  const double structure =
      double(8 * PushedSizes::length(options.hops)) + double(GroupBatch::pushed_bytes(options, sizes));
  const Rank rank = share.group[std::size_t(share.place)];
  add_rounds(rank, Traffic::kStructure, times * 2);
  add_rounds(rank, Traffic::kIds, times);
  for (const Rank peer : share.group) {
    add(rank, peer, Traffic::kStructure, times * structure);
    add(rank, peer, Traffic::kIds, times * 4 * double(sizes.all_rows()));
  }
  return times * (share.members() - 1) * (structure + 4 * double(sizes.all_rows()));
}

/// Row numbers go to the rows' owners, which answer with the number of ranks that compute each row.
void BatchTraffic::add_shares(const Batch& batch, Rank rank, double times) {
  for (int set = 0; set <= batch.layers(); ++set) {
    add_asking(rank, Traffic::kIds, row_set(batch, set), 1, times);
    for (Rank owner = 0; owner < ranks_; ++owner) add(rank, owner, Traffic::kIds, times * kCountBytes);
    for (const VertexId row : row_set(batch, set)) {
      add(rank, owners_.owner_of(row), Traffic::kIds, times * 4);
      add(owners_.owner_of(row), rank, Traffic::kIds, times * 4);
    }
  }
}

/// The rows of other ranks that the rank's cache holds, ascending. The plan takes the rows with the most
/// neighbours under every policy. The rows that the drawn batches read most often would overstate the cache's
/// hits, because other batches read other rows.
std::vector<VertexId> BatchTraffic::cached(Rank rank) const {
  std::vector<VertexId> rows;
  if (cached_rows_ == 0) return rows;
  const std::span<const Index> begins = source_.arc_offsets();
  for (VertexId row = 0; row + 1 < VertexId(begins.size()); ++row)
    if (!owners_.owns(rank, row)) rows.push_back(row);
  const auto more_neighbours = [&](VertexId a, VertexId b) {
    const Index of_a = begins[std::size_t(a) + 1] - begins[std::size_t(a)];
    const Index of_b = begins[std::size_t(b) + 1] - begins[std::size_t(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto count = std::min(std::size_t(cached_rows_), rows.size());
  std::nth_element(rows.begin(), rows.begin() + std::ptrdiff_t(count), rows.end(), more_neighbours);
  rows.resize(count);
  std::ranges::sort(rows);
  return rows;
}

void BatchTraffic::add_choices(Rank rank, double times) {
  for (Rank to = 0; to < ranks_; ++to) add(rank, to, Traffic::kFeatures, times * 4 * double(fetched_));
}

void BatchTraffic::add_touched(Rank rank, Index features, double times) {
  add_rounds(rank, Traffic::kFeatures, times);
  for (Rank to = 0; to < ranks_; ++to)
    add(rank, to, Traffic::kFeatures, times * double(TouchedFeatures::bytes_sent(2, features)));
}

void BatchTraffic::add_features(const std::map<VertexId, Index>& reads, Rank rank, std::int64_t drawn,
                                double times) {
  const std::vector<VertexId> here = cached(rank);
  for (const auto& [row, count] : reads) {
    if (std::ranges::binary_search(here, row)) continue;
    const Rank owner = owners_.owner_of(row);
    add(rank, owner, Traffic::kFeatures, times * double(count) * 4);
    add(owner, rank, Traffic::kFeatures, times * double(count) * row_.bytes(row));
  }
  for (Rank owner = 0; owner < ranks_; ++owner)
    add(rank, owner, Traffic::kFeatures, times * double(drawn * kCountBytes));
}

}  // namespace atl
