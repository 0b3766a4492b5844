// Of which vertices of other ranks a rank keeps historical embeddings, and which of its own ones others keep (Vasimuddin et al. 2022,
// "DistGNN-MB": the historical embedding cache, and its database of halo vertices). They are chosen once, so that a row's slot is known
// before anything is pushed, and owners push nothing that nobody keeps.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/row_draws.h"
#include "sampler/structure.h"

namespace atl {

/// The rows of others that most arcs to own rows come from, at most `limit` of them, ascending. `graph`: asked for own rows alone, so
/// that nothing is exchanged.
std::vector<VertexId> most_read_rows(Structure& graph, const Owners& owners, Rank rank, Index limit);

/// Nothing changes after it is made: any thread may ask.
class HistoryRows {
 public:
  /// kept: others' rows that have a slot each, ascending. wanted (ranks): own rows that each rank keeps, ascending; views. `owners`
  /// outlives it.
  HistoryRows(const Owners& owners, Rank rank, std::vector<VertexId> kept,
              std::span<const std::span<const VertexId>> wanted);

  bool owns(VertexId row) const { return owners_.owns(rank_, row); }
  Rank rank() const { return rank_; }
  int ranks() const { return owners_.ranks(); }
  Index slots() const { return Index(kept_.size()); }
  /// −1: it isn't kept.
  VertexId slot_of(VertexId row) const { return slots_.find(row); }
  VertexId row_in(VertexId slot) const { return kept_[std::size_t(slot)]; }
  /// Own rows that others keep, once for each of them.
  Index kept_by_others() const { return Index(keepers_.size()); }
  /// (ranks + 1) each owner's rows have slots that follow each other.
  std::span<const VertexId> first_slots() const { return first_slots_; }

  /// Who keeps an own row, and which one it is of this rank's rows that are kept there.
  struct Keeper {
    Rank rank;
    VertexId place;
  };
  std::span<const Keeper> keepers_of(VertexId row) const {
    const auto at = std::size_t(row - first_row_);
    return {keepers_.data() + begins_[at], std::size_t(begins_[at + 1] - begins_[at])};
  }
  Index bytes() const;

 private:
  const Owners& owners_;
  const Rank rank_;
  const VertexId first_row_;
  std::vector<VertexId> kept_, first_slots_;
  RowTable slots_;
  std::vector<Index> begins_;  // (owned + 1)
  std::vector<Keeper> keepers_;
};

/// Chooses at most `limit` rows and tells their owners. Collective, from the thread that computes, before any batch is made. `owners`
/// outlives it.
std::unique_ptr<HistoryRows> history_rows(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                          Index limit);

}  // namespace atl
