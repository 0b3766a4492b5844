// CAGNET's communication (Tripathy et al. 2020, section IV): whole blocks of rows to all ranks that aggregate over them, each
// followed by an accumulation, and the gradients of whole blocks back to their owners, also those of rows that nobody reads.
//
// Blocks go round: in round t of 1D rank p receives the block of rank p + t and sends its own to rank p − t, so that all links
// are busy in each of the P − 1 rounds. One owner's broadcast after the other would send the same bytes over one rank's link
// at a time. The next round's block is under way during the accumulation of the present one: it arrives in the other of two
// buffers. What is kept of a block are the rows that are read here.
#pragma once

#include <array>

#include "exchange/exchange.h"
#include "exchange/wire.h"
#include "job/strategies/cagnet_grid.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective. Slot 0: own rows, all of them in 1D, else those that are
/// read; then the owners whose rows are read here, in the order in which their blocks come.
class CagnetRounds {
 public:
  CagnetRounds(Context& ctx, Communicator& comm, const GraphPart& part,
               const std::vector<ExchangedLayer>& layers, const CagnetGrid& grid, Precision wire);

  /// (ranks) whether each rank's block travels, the same on all ranks.
  using Travels = std::vector<bool>;
  const Travels& all() const { return all_; }

  std::vector<Index> source_rows() const;
  Index halo_rows() const { return halo_rows_; }
  Index widest() const { return widest_; }  // columns of a layer whose rows travel
  Index bytes() const { return buffers_[0].held_bytes() + buffers_[1].held_bytes(); }

  /// Visits all blocks. Of those that travel, `halo` (halo_rows, cols) takes the rows that are read here, each owner's
  /// together; of the others it holds them.
  void forward(const Gather& gather, const Travels& travels, MatrixView halo, VisitSource visit);
  /// Visits them again, `halo` as it was then. Gradients of the blocks that travel are added to their owners' d_rows (owned,
  /// cols): own rows first, then those that the rank before sends, the one before that, and so on.
  void backward(const Gather& gather, const Travels& travels, ConstMatrixView halo, VisitSourceBackward visit,
                MatrixView d_rows);

  /// Visits the features, which every rank has of all rows that it reads.
  void visit_features(const Rows& own, VisitSource visit) const;

 private:
  /// What is read here of one rank's rows.
  struct Read {
    const OwnerRows* rows = nullptr;  // null: nothing
    int slot = 0;
    Index halo_begin = 0;
    Index count() const { return rows == nullptr ? 0 : Index(rows->rows.size()); }
  };
  struct Round {
    Rank from = 0, to = 0;
    Read read;  // of `from`
  };
  /// Of a layer's blocks, those that travel.
  struct Broadcast {
    const Gather& gather;
    const Travels& travels;
    Wire wire;
    PackedRows own;  // as they leave
  };

  Index owned(Rank rank) const { return part_.owned_by_rank[std::size_t(rank)]; }
  void place(Read& read, Rank owner, int& slots);
  Event start(std::size_t round, const Broadcast& broadcast);
  Event ship(const Round& round, const Travels& travels, ConstMatrixView d_read, Index cols);
  bool visit_own(const Gather& gather, MatrixView halo, VisitSource visit);
  void visit_own(const Gather& gather, ConstMatrixView halo, VisitSourceBackward visit, MatrixView d_rows);
  MatrixView buffer(std::size_t which, Index rows, Index cols) {
    return {buffers_[which].data(), rows, cols};
  }

  Context& ctx_;
  Communicator& comm_;
  const GraphPart& part_;
  Wire wire_;  // of training
  Rank rank_;
  bool all_own_rows_;  // 1D: the own block is the part's
  Travels all_;
  Read own_;  // otherwise
  std::vector<Round> rounds_;
  Index halo_rows_ = 0, widest_ = 0;
  std::array<Matrix, 2> buffers_;  // (largest block, widest) each
};

}  // namespace atl
