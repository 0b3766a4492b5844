// CAGNET's communication (Tripathy et al. 2020, section IV): each whole block of rows goes to all ranks that
// aggregate over it and is accumulated there, and the gradients of whole blocks go back to their owners, even
// of rows that nobody reads.
//
// Blocks go round: in round t of 1D, rank p receives the block of rank p + t and sends its own to rank p − t,
// so that all links are busy in each of the P − 1 rounds. If owners broadcast one after the
// other, the same bytes would all use one rank's link at a time. While the present round's block is
// accumulated, the next one's arrives in the other of two buffers. Only the rows that are read here are kept
// of a block.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "job/strategies/whole_blocks.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"

namespace atl {

/// The rows of one rank that a rank reads.
struct OwnerRows {
  Rank owner = 0;
  // (src) the rows by the owner's own numbering, ascending; in the device's memory
  std::span<const VertexId> rows;
  Block block;  // destinations: owned rows, or those of a row of the grid; sources: `rows`
};

/// A part's arcs by the owners of the rows that it reads. These are views; their maker outlives them.
struct OwnerBlocks {
  // those whose rows are read here, in the order of turns; their features: GraphPart::read_features
  std::vector<OwnerRows> owners;
  std::vector<Index> owned_by_rank;  // (ranks) how many rows each owns
};

/// One per exchange; references must outlive it. Calls are collective. Slot 0 holds own rows, in 1D all of
/// them, otherwise those that are read. The next slots hold the rows read of other owners, in the order in
/// which their blocks come.
class CagnetRounds {
 public:
  CagnetRounds(Context& ctx, Communicator& comm, const GraphPart& part, const OwnerBlocks& blocks,
               const std::vector<ExchangedLayer>& layers, const CagnetGrid& grid, Precision wire);

  /// (ranks) Whether each rank's block travels; the same on all ranks.
  using Travels = std::vector<bool>;
  const Travels& all() const { return all_; }

  std::vector<Index> source_rows() const;
  Index halo_rows() const { return halo_rows_; }
  Index widest() const { return widest_; }  // most columns of a layer whose rows travel
  Index bytes() const { return buffers_[0].held_bytes() + buffers_[1].held_bytes(); }

  /// Gathers all blocks. `halo` (halo_rows, cols) takes the rows that are read here, grouped by owner. Those
  /// of blocks that travel are written; those of other blocks must be there already. `travels` must outlive
  /// the gather.
  Gather& gather(const GatherRequest& what, const Travels& travels, MatrixView halo);
  /// The way back, with `halo` as it was in the gather. Gradients of the blocks that travel are added to
  /// their owners' d_rows (owned, cols): first own rows' part, then the part of the rank before, of the one
  /// before that, and so on.
  Gather& gather_back(const GatherRequest& what, const Travels& travels, ConstMatrixView halo,
                      MatrixView d_rows);
  /// Gathers the features, which every rank has for all rows that it reads. Used for the way back too, since
  /// features take no gradient.
  Gather& gather_features(const Rows& own);
  /// Sets the ranks that merge their partial sums in all gathers; null: each rank's sums are whole. It must
  /// outlive the gathers.
  void merge_by(RowGroup* merge) { merge_ = merge; }

 private:
  /// The rows of one rank that are read here.
  struct Read {
    const OwnerRows* rows = nullptr;  // null: nothing
    int slot = 0;
    Index halo_begin = 0;
    Index count() const { return rows == nullptr ? 0 : Index(rows->rows.size()); }
  };
  struct Round {
    Rank from = 0, to = 0;
    Read read;  // of `from`'s rows
  };
  /// A gather under way: own rows, then round by round. State that gathers share is in CagnetRounds.
  class There final : public Gather {
   public:
    explicit There(CagnetRounds& rounds) : r_(rounds) {}
    Gather& start(const GatherRequest& what, const Travels* travels, MatrixView halo);
    const Source* next() override;
    RowGroup* group() override { return r_.merge_; }

   private:
    void start_rounds();
    bool take_own();
    bool take(const Round& round);
    Event receive(std::size_t round);

    CagnetRounds& r_;
    const Travels* travels_ = nullptr;  // null: gathers the features, which are here
    Rows rows_;
    Traffic purpose_ = Traffic::kHalo;
    Wire wire_{r_.wire_};
    PackedRows packed_;  // own rows as they are sent
    MatrixView halo_;
    std::array<Event, 2> under_way_;
    enum class Step { kStart, kOwn, kRounds, kEnd } step_ = Step::kEnd;
    std::size_t at_ = 0;  // the next round
    Source source_;
  };
  /// The way back: first a round's rows, whose gradients travel while own rows' gradients are computed, then
  /// the next round's.
  class Back final : public Gather {
   public:
    explicit Back(CagnetRounds& rounds) : r_(rounds) {}
    Gather& start(const GatherRequest& what, const Travels* travels, ConstMatrixView halo, MatrixView d_rows);
    const Source* next() override;
    RowGroup* group() override { return r_.merge_; }

   private:
    enum class Step { kRead, kSend, kOwn, kNext, kEnd };
    bool read(const Round& round);
    bool read_own();
    void send_gradients(const Round& round);
    void add_arrived();

    CagnetRounds& r_;
    const Travels* travels_ = nullptr;
    Rows rows_;
    ConstMatrixView halo_;
    MatrixView d_rows_, d_read_;
    Event under_way_;
    Step step_ = Step::kEnd;
    std::size_t at_ = 0;
    Source source_;
  };

  Index owned(Rank rank) const { return blocks_.owned_by_rank[std::size_t(rank)]; }
  const Rows& features(const Read& read) const {
    return part_.read_features[std::size_t(read.rows - blocks_.owners.data())];
  }
  void place(Read& read, Rank owner, int& slots);
  bool is_last(std::size_t round) const { return round + 1 >= rounds_to_read_; }
  MatrixView buffer(std::size_t which, Index rows, Index cols) {
    return {buffers_[which].data(), rows, cols};
  }

  Context& ctx_;
  Communicator& comm_;
  const GraphPart& part_;
  const OwnerBlocks& blocks_;
  Wire wire_;  // for training
  Rank rank_;
  bool all_own_rows_;  // 1D: the own block is the whole part's
  Travels all_;
  Read own_;  // 1.5D: the own rows that are read here
  std::vector<Round> rounds_;
  std::size_t rounds_to_read_ = 0;  // after these no round's rows are read
  Index halo_rows_ = 0, widest_ = 0;
  std::array<Matrix, 2> buffers_;  // (largest block, widest) each
  RowGroup* merge_ = nullptr;
  There there_{*this};
  Back back_{*this};
};

}  // namespace atl
