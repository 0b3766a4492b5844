// Cached feature rows of other ranks, found by a hash table. A row's bytes are kept as they arrived, so that
// a hit changes no bits. They lie in cells of one size: a dense row or bits take one cell, a sparse row as
// many as it needs.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_draws.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"
#include "sampler/structure.h"

namespace atl {

class RowCache {
 public:
  static constexpr VertexId kNone = -1;

  /// Makes room for `cells` cells. `replaces`: a new row replaces the least recently used ones; otherwise
  /// rows are added until the cache is full, and stay.
  RowCache(Index cells, Index cell_bytes, bool replaces);

  /// Memory per cell, with its share of the tables.
  static Index bytes_of_cell(Index cell_bytes);

  Index cells() const { return Index(next_.size()); }
  /// The number of cached rows.
  Index size() const { return size_; }
  bool replaces() const { return replaces_; }
  /// The row's place, valid until the next put(); kNone: it isn't cached.
  VertexId find(VertexId row);
  /// The row's number of bytes.
  Index bytes(VertexId place) const { return uses_[std::size_t(place)].bytes; }
  /// The row's bytes in the cell at `place`.
  const std::byte* cell(VertexId place) const { return memory_.data() + place * cell_bytes_; }
  /// The place of the row's next cell.
  VertexId next(VertexId place) const { return next_[std::size_t(place)]; }
  Index cell_bytes() const { return cell_bytes_; }
  /// Does nothing if there is no room, or the row is cached already.
  void put(VertexId row, std::span<const std::byte> bytes);

 private:
  /// An entry of the hash table.
  struct Entry {
    VertexId row = kNone, place = kNone;
  };
  /// A row's place in the order of use, stored at its first cell.
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
  std::vector<VertexId> next_;  // (cells) the row's next cell, or the next free one
  VertexId free_ = kNone;       // the first free cell
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::vector<Use> uses_;       // (cells)
  VertexId newest_ = kNone, oldest_ = kNone;
};

// Which rows of other ranks an unchanging cache should hold: those with the most neighbours, which are drawn
// most often, or those that a few steps of sampling drew most often.

/// About `count` rows of other ranks in descending order of degree. Each rank nominates some of its own rows.
/// Collective; called by the compute thread.
std::vector<VertexId> rows_by_degree(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                     Index count);

/// Counts how often batches read other ranks' rows. Memory grows with the rows that they read.
class RequestCounts {
 public:
  RequestCounts(const Owners& owners, Rank rank);
  void add(std::span<const VertexId> rows);
  /// The rows in descending order of how often they were read.
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

/// The rows that the run's first `steps` steps read, the most often read first. Collective; called by the
/// sampling thread. `pairs` as in batch_maker().
std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs = nullptr);

}  // namespace atl
