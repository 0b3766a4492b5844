// Feature rows of other ranks that are kept, so that they needn't be fetched again: a fixed number of them, found by a hash table
// of that size. Whole rows as they arrived, so that a hit changes no bits.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_draws.h"
#include "sampler/row_draws.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"
#include "tensor/matrix.h"

namespace atl {

class RowCache {
 public:
  /// Room for so many rows of `cols` values. replaces: a new row takes the place of the one that was used longest ago; otherwise
  /// rows are put until it is full, and stay.
  RowCache(Index rows, Index cols, bool replaces);

  /// Of a row, with what finds it.
  static Index row_bytes(Index cols);

  Index capacity() const { return rows_.rows(); }
  Index size() const { return size_; }
  bool replaces() const { return replaces_; }
  /// The row's values, valid until the next put(); null: it isn't there.
  const Real* find(VertexId row);
  /// Does nothing where there is no room, or where it is there already.
  void put(VertexId row, const Real* values);

 private:
  static constexpr VertexId kNone = -1;
  struct Cell {
    VertexId row = kNone, slot = kNone;
  };
  /// A slot's neighbours in the order of use.
  struct Use {
    VertexId row = kNone, newer = kNone, older = kNone;
  };
  std::size_t home(VertexId row) const;
  std::size_t cell_of(VertexId row) const;
  VertexId free_slot();
  void forget(VertexId row);
  void unlink(VertexId slot);
  void make_newest(VertexId slot);

  const bool replaces_;
  Matrix rows_;  // (capacity, cols)
  Index size_ = 0;
  std::vector<Cell> cells_;  // a power of two, at most half full
  std::vector<Use> uses_;    // (capacity)
  VertexId newest_ = kNone, oldest_ = kNone;
};

// Which rows of other ranks a cache that doesn't change should hold: those with the most neighbours, who are drawn most often, or
// those that a few steps of sampling did draw most often.

/// About `count` rows of other ranks in descending order of degree. Each rank nominates some of its own; collective, and called by
/// the compute thread.
std::vector<VertexId> rows_by_degree(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                     Index count);

/// Counts what batches read of other ranks. Memory grows with the rows that they do read.
class RequestCounts {
 public:
  RequestCounts(const Owners& owners, Rank rank);
  void add(std::span<const VertexId> rows);
  /// In descending order of how often they were read.
  std::vector<VertexId> rows() const;

 private:
  const Owners& owners_;
  Rank rank_;
  RowTable table_;
  struct Count {
    VertexId row;
    std::int32_t count;
  };
  std::vector<Count> counts_;
};

/// The same for the batches of the run's first `steps` steps. Collective; the caller is the sampling thread. `pairs`: as batch_maker() has
/// them.
std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs = nullptr);

}  // namespace atl
