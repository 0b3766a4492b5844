// Feature rows of other ranks that are kept, so that they needn't be fetched again, found by a hash table. A
// row's bytes are as they arrived, so that a hit changes no bits. They lie in cells of one size: dense rows
// and bits in one each, sparse rows in as many as they need.
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

namespace atl {

class RowCache {
 public:
  static constexpr VertexId kNone = -1;

  /// Room for so many cells. replaces: a new row takes the place of those that were used longest ago;
  /// otherwise rows are put until it is full, and stay.
  RowCache(Index cells, Index cell_bytes, bool replaces);

  /// What a cell takes, with what finds its row.
  static Index bytes_of_cell(Index cell_bytes);

  Index cells() const { return Index(next_.size()); }
  /// Rows that are there.
  Index size() const { return size_; }
  bool replaces() const { return replaces_; }
  /// Where the row is, valid until the next put(); kNone: it isn't there.
  VertexId find(VertexId row);
  /// Its number of bytes.
  Index bytes(VertexId place) const { return uses_[std::size_t(place)].bytes; }
  /// Its bytes from the beginning of each of its cells on: of a row of one cell all.
  const std::byte* cell(VertexId place) const { return memory_.data() + place * cell_bytes_; }
  /// The place of the cell that follows in the row.
  VertexId next(VertexId place) const { return next_[std::size_t(place)]; }
  Index cell_bytes() const { return cell_bytes_; }
  /// Does nothing where there is no room, or where it is there already.
  void put(VertexId row, std::span<const std::byte> bytes);

 private:
  /// Of the hash table.
  struct Entry {
    VertexId row = kNone, place = kNone;
  };
  /// Of a row, by its first cell: its neighbours in the order of use.
  struct Use {
    VertexId row = kNone, newer = kNone, older = kNone;
    std::int32_t bytes = 0;
  };
  std::size_t home(VertexId row) const;
  std::size_t entry_of(VertexId row) const;
  bool make_room(Index cells);
  VertexId take_cell();
  void drop(VertexId place);
  void forget(VertexId row);
  void unlink(VertexId place);
  void make_newest(VertexId place);

  const bool replaces_;
  const Index cell_bytes_;
  std::vector<std::byte> memory_;  // (cells, cell_bytes)
  Index size_ = 0, free_cells_;
  std::vector<VertexId> next_;  // (cells) the next one of the row, or of those that are free
  VertexId free_ = kNone;       // the first of these
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::vector<Use> uses_;       // (cells)
  VertexId newest_ = kNone, oldest_ = kNone;
};

// Which rows of other ranks a cache that doesn't change should hold: those with the most neighbours, who are
// drawn most often, or those that a few steps of sampling did draw most often.

/// About `count` rows of other ranks in descending order of degree. Each rank nominates some of its own;
/// collective, and called by the compute thread.
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

/// The same for the batches of the run's first `steps` steps. Collective; the caller is the sampling thread.
/// `pairs`: as batch_maker() has them.
std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs = nullptr);

}  // namespace atl
