#include "train/batch_data.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "job/strategies.h"
#include "sampler/structure.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

Owners owners_of(const PreparedGraph& prepared, int ranks) {
  return {prepared.part_offsets(), ranks};
}

}  // namespace

BatchData::BatchData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                     const PartRanks& ranks)
    : prepared_(prepared), rank_(rank), graph_{owners_of(prepared, job.placement.ranks), {}, {}, {}, {}, {}} {
  for (Rank r = 0; r < job.placement.ranks; ++r)
    ATOLL_CHECK(ranks.part_of(r) == r, "rank {} trains part {}", r, ranks.part_of(r));
  const auto ids = prepared.ids().subspan(std::size_t(graph_.owners.first_row(rank)),
                                          std::size_t(graph_.owners.rows(rank)));
  owned_ids_.assign(ids.begin(), ids.end());
  const bool by_id = find_strategy(job.strategy.kind)->draws_neighbours(job);
  const bool inductive = job.training.setting == Setting::kInductive;
  graph_.training = drawn_graph(prepared, inductive, by_id);
  graph_.whole = drawn_graph(prepared, false, false);
  if (const auto share = columns_of(job, rank, dataset.meta().features))
    read_columns(job, dataset, *share);
  else
    graph_.features = features_.read(dataset, owned_ids_, job, FeatureForm::kDense).dense;
}

/// Some vertices at a time: their other columns are read with them, and dropped.
void BatchData::read_columns(const Job& job, const Dataset& dataset, const ColumnShare& share) {
  constexpr Index kPiece = 4096;
  const Index vertices = dataset.meta().vertices;
  columns_.resize(vertices, share.count());
  PartData::Features piece;
  std::vector<VertexId> ids;
  for (Index begin = 0; begin < vertices; begin += kPiece) {
    ids.resize(std::size_t(std::min(kPiece, vertices - begin)));
    std::iota(ids.begin(), ids.end(), VertexId(begin));
    const ConstMatrixView rows = piece.read(dataset, ids, job, FeatureForm::kDense).dense;
    for (Index r = 0; r < rows.rows; ++r)
      std::copy_n(rows.row(r) + share.first(), share.count(), columns_.view().row(begin + r));
  }
  graph_.columns = HeldColumns{std::as_const(columns_).view(), share};
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
