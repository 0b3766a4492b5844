// The data of a rank that trains on mini-batches: rows of features, or columns of all rows, as they are
// stored.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "job/samplers.h"
#include "job/strategies.h"
#include "strategies/schedule/strategy.h"
#include "train/rank_data.h"

namespace atl {
namespace {

Owners owners_of(const PreparedGraph& prepared, int ranks) {
  return {prepared.part_offsets(), ranks};
}

}  // namespace

BatchData::BatchData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                     const PartRanks& ranks, FeatureForm form)
    : prepared_(prepared),
      rank_(rank),
      reads_neighbours_(reads_neighbours(job)),
      graph_{owners_of(prepared, job.placement.ranks), {}, {}, {}, {}, {}} {
  for (Rank r = 0; r < job.placement.ranks; ++r)
    ATOLL_CHECK(ranks.part_of(r) == r, "rank {} trains part {}", r, ranks.part_of(r));
  const auto ids = prepared.ids().subspan(std::size_t(graph_.owners.first_row(rank)),
                                          std::size_t(graph_.owners.rows(rank)));
  owned_ids_.assign(ids.begin(), ids.end());
  const bool by_id = job.strategy.row->draws_neighbours(job);
  const bool inductive = job.training.setting == Setting::kInductive;
  graph_.training = drawn_graph(prepared, inductive, by_id);
  graph_.whole = drawn_graph(prepared, false, false);
  const DatasetMeta& meta = dataset.meta();
  const FeatureForm held = held_form(meta, form);
  graph_.sparse = form != FeatureForm::kDense;
  graph_.entries = feature_shape(meta, held).nonzeros_per_row;
  if (const auto share = columns_of(job, rank, meta.features))
    read_columns(job, dataset, *share, held);
  else
    graph_.features = features_.read_rows(dataset, owned_ids_, job, held);
}

void BatchData::release_features() {
  if (reads_neighbours_) return;
  features_ = PartData::Features();
  graph_.features = Rows(ConstMatrixView());
}

/// Reads some vertices at a time, because their other columns are read with them and then dropped.
void BatchData::read_columns(const Job& job, const Dataset& dataset, const ColumnShare& share,
                             FeatureForm held) {
  constexpr Index kPiece = 4096;
  const Index vertices = dataset.meta().vertices, first = share.first(), count = share.count();
  PartData::Features piece;
  PartData::Features& all = features_;
  if (held == FeatureForm::kDense) all.dense.resize(vertices, count);
  if (held == FeatureForm::kBits) all.bits = BitMatrix(vertices, count);
  all.sparse.rows = vertices, all.sparse.cols = count;
  std::vector<VertexId> ids;
  for (Index begin = 0; begin < vertices; begin += kPiece) {
    ids.resize(std::size_t(std::min(kPiece, vertices - begin)));
    std::iota(ids.begin(), ids.end(), VertexId(begin));
    const Rows rows = piece.read_rows(dataset, ids, job, held);
    for (Index r = 0; r < rows.rows(); ++r) {
      if (!rows.packed()) {
        std::copy_n(rows.dense.row(r) + first, count, all.dense.view().row(begin + r));
        continue;
      }
      for_each_entry(rows, r, [&](VertexId column, Real value) {
        if (column < first || column >= first + count) return;
        if (held == FeatureForm::kBits) return all.bits.set(begin + r, column - first);
        all.sparse.columns.push_back(VertexId(column - first));
        all.sparse.weights.push_back(float(value));
      });
      if (held == FeatureForm::kBits) all.levels.push_back(rows.bits->levels[r]);
      if (held == FeatureForm::kSparse) all.sparse.offsets.push_back(Index(all.sparse.columns.size()));
    }
  }
  all.sparse_view = {all.sparse.view(), {}};
  all.bit_view = {all.bits.view(), {}, all.levels.data()};
  graph_.columns = HeldColumns{held == FeatureForm::kSparse ? Rows(&all.sparse_view)
                               : held == FeatureForm::kBits ? Rows(&all.bit_view)
                                                            : Rows(std::as_const(all.dense).view()),
                               share, graph_.sparse};
}

void BatchData::trains_on(std::span<const VertexId> rows) {
  std::vector<VertexId> ids;
  for (const VertexId row : rows) ids.push_back(owned_ids_[std::size_t(row)]);
  std::ranges::sort(ids);
  graph_.training_rows = training_rows(prepared_, graph_.owners, rank_,
                                       [&](VertexId id) { return std::ranges::binary_search(ids, id); });
}

void BatchData::trains_on(const PairGraph& pairs) {
  graph_.pairs = &pairs;
  graph_.training_rows = pairs.numbers();
}

void BatchData::count(Communicator& comm) {
  std::vector<Index> own;
  for (const auto& rows : graph_.training_rows.by_part) own.push_back(Index(rows.size()));
  graph_.training_by_part.clear();
  for (const auto& bytes : comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(own)))) {
    std::vector<Index> theirs(bytes.size() / sizeof(Index));
    if (!bytes.empty()) std::memcpy(theirs.data(), bytes.data(), bytes.size());
    graph_.training_by_part.insert(graph_.training_by_part.end(), theirs.begin(), theirs.end());
  }
}

}  // namespace atl
