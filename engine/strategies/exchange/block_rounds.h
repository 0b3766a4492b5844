// CAGNET's communication (Tripathy et al. 2020, section IV): whole blocks of rows to all ranks that aggregate
// over them, each followed by an accumulation, and the gradients of whole blocks back to their owners, also
// those of rows that nobody reads.
//
// Blocks go round: in round t of 1D rank p receives the block of rank p + t and sends its own to rank p − t,
// so that all links are busy in each of the P − 1 rounds. One owner's broadcast after the other would send
// the same bytes over one rank's link at a time. The next round's block is under way during the accumulation
// of the present one: it arrives in the other of two buffers. What is kept of a block are the rows that are
// read here.
#pragma once

#include <array>

#include "job/strategies/whole_blocks.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"

namespace atl {

/// One per exchange; references outlive it. Calls are collective. Slot 0: own rows, all of them in 1D, else
/// those that are read; then the owners whose rows are read here, in the order in which their blocks come.
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

  /// Gathers all blocks. `halo` (halo_rows, cols) has the rows that are read here, grouped by owner: those of
  /// blocks that travel are written to it, those of other blocks must be there already. `travels` outlives
  /// the gather.
  Gather& gather(const GatherRequest& what, const Travels& travels, MatrixView halo);
  /// The way back, `halo` as it was then. Gradients of the blocks that travel are added to their owners'
  /// d_rows (owned, cols): own rows first, then those that the rank before sends, the one before that, and so
  /// on.
  Gather& gather_back(const GatherRequest& what, const Travels& travels, ConstMatrixView halo,
                      MatrixView d_rows);
  /// Gathers the features, which every rank has of all rows that it reads; back likewise, for they take no
  /// gradient.
  Gather& gather_features(const Rows& own);
  /// What makes the sums of all gathers whole; null: they are. Outlives them.
  void merge_by(RowGroup* merge) { merge_ = merge; }

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
  /// A gather under way: own rows, then round by round. What several gathers share is the rounds'.
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
    const Travels* travels_ = nullptr;  // null: of the features, which are here
    Rows rows_;
    Traffic purpose_ = Traffic::kHalo;
    Wire wire_{r_.wire_};
    PackedRows packed_;  // own rows as they leave
    MatrixView halo_;
    std::array<Event, 2> under_way_;
    enum class Step { kStart, kOwn, kRounds, kEnd } step_ = Step::kEnd;
    std::size_t at_ = 0;  // the round that comes next
    Source source_;
  };
  /// The way back: a round's rows, whose gradients then travel while own rows' are computed, then the next
  /// round's.
  class Back final : public Gather {
   public:
    explicit Back(CagnetRounds& rounds) : r_(rounds) {}
    Gather& start(const GatherRequest& what, const Travels* travels, ConstMatrixView halo, MatrixView d_rows);
    const Source* next() override;
    RowGroup* group() override { return r_.merge_; }

   private:
    enum class Step { kRead, kShip, kOwn, kNext, kEnd };
    bool read(const Round& round);
    bool read_own();
    void ship(const Round& round);
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

  Index owned(Rank rank) const { return part_.owned_by_rank[std::size_t(rank)]; }
  void place(Read& read, Rank owner, int& slots);
  bool is_last(std::size_t round) const { return round + 1 >= rounds_to_read_; }
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
  std::size_t rounds_to_read_ = 0;  // after those nothing is read
  Index halo_rows_ = 0, widest_ = 0;
  std::array<Matrix, 2> buffers_;  // (largest block, widest) each
  RowGroup* merge_ = nullptr;
  There there_{*this};
  Back back_{*this};
};

}  // namespace atl
