// CAGNET's exchange (Tripathy et al. 2020, 1D and 1.5D): blocks of rows are broadcast whole, layer by layer
// and epoch by epoch, and their gradients go back whole. The result is the same as on one rank; the price is
// that rows travel which nobody reads.
#include "job/strategies/whole_blocks.h"
#include "model/gather.h"
#include "strategies/exchange/block_rounds.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/halo_gather.h"
#include "strategies/exchange/wire.h"

namespace atl {
namespace {

// A row of CAGNET's grid (Tripathy et al. 2020, section IV-B): its ranks aggregate for each other, each for
// all vertices of the row over its own column's sources. Partial sums for a vertex go to its owner, and the
// owner's gradients to all of them. These are the two halves of the paper's all-reduce, each where it is
// needed.

/// One per exchange; references must outlive it. Calls are collective over the row. One transfer must end
/// before the next is started.
class CagnetRow {
 public:
  CagnetRow(Context& ctx, Communicator& comm, const OwnerBlocks& blocks, const CagnetGrid& grid);

  /// Vertices of all the row's ranks, rank by rank in the order of columns.
  Index vertices() const { return vertices_; }
  /// The rows of `of_row` (vertices, cols) that this rank owns.
  MatrixView own(MatrixView of_row) const;

  /// Each rank has partial sums for all vertices of the row, `partial` (vertices, cols). Starts to send each
  /// sum to the vertex's owner. `partial` is overwritten by its packed form.
  Event collect(Traffic purpose, const Wire& wire, MatrixView partial);
  /// What collect() has brought: (owned, cols) from each rank of the row, in the order of columns; valid
  /// until the next transfer.
  std::span<const MatrixView> terms(const Wire& wire) const;

  /// Starts to send each rank's own rows of `of_row` (vertices, cols) to all others of the row.
  Event spread(Traffic purpose, const Wire& wire, MatrixView of_row);
  /// Unpacks what spread() has brought.
  void unpack(const Wire& wire, MatrixView of_row) const;

 private:
  struct Member {
    Rank rank = 0;
    Index begin = 0, count = 0;  // its vertices in the row
  };
  MatrixView rows_of(const Member& member, MatrixView of_row) const {
    return of_row.slice_rows(member.begin, member.count);
  }

  Context& ctx_;
  Communicator& comm_;
  std::vector<Member> members_;  // by column
  std::size_t own_ = 0;          // its place among members_
  Index vertices_ = 0;
  std::vector<Message> sends_, receives_;  // of the present transfer; kept to reuse their memory
  std::vector<MatrixView> terms_;          // by column
};

CagnetRow::CagnetRow(Context& ctx, Communicator& comm, const OwnerBlocks& blocks, const CagnetGrid& grid)
    : ctx_(ctx), comm_(comm), own_(std::size_t(comm.rank() % grid.replication)) {
  for (int column = 0; column < grid.replication; ++column) {
    const Rank rank = grid.at(grid.row(comm.rank()), column);
    members_.push_back({rank, vertices_, blocks.owned_by_rank[std::size_t(rank)]});
    vertices_ += members_.back().count;
  }
}

MatrixView CagnetRow::own(MatrixView of_row) const {
  return rows_of(members_[own_], of_row);
}

Event CagnetRow::collect(Traffic purpose, const Wire& wire, MatrixView partial) {
  const Index owned = members_[own_].count, others = Index(members_.size()) - 1;
  static constexpr ScratchKey kArrived;
  MatrixView arrived = ctx_.workspace->matrix(kArrived, others * owned, partial.cols);
  sends_.clear(), receives_.clear(), terms_.clear();
  for (const Member& each : members_) {
    if (each.rank == members_[own_].rank) {
      terms_.push_back(own(partial));
      continue;
    }
    const MatrixView from = arrived.slice_rows(Index(receives_.size()) * owned, owned);
    sends_.push_back(wire.pack(rows_of(each, partial)).message(each.rank));
    receives_.push_back(wire.packed(from).message(each.rank));
    terms_.push_back(from);
  }
  return comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
}

std::span<const MatrixView> CagnetRow::terms(const Wire& wire) const {
  for (std::size_t column = 0; column < terms_.size(); ++column)
    if (column != own_) wire.unpack(terms_[column]);
  return terms_;
}

Event CagnetRow::spread(Traffic purpose, const Wire& wire, MatrixView of_row) {
  static constexpr ScratchKey kPacked;
  const PackedRows packed = wire.pack_copy(own(of_row), kPacked);
  sends_.clear(), receives_.clear();
  for (const Member& each : members_) {
    if (each.rank == members_[own_].rank) continue;
    sends_.push_back(packed.message(each.rank));
    receives_.push_back(wire.packed(rows_of(each, of_row)).message(each.rank));
  }
  return comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
}

void CagnetRow::unpack(const Wire& wire, MatrixView of_row) const {
  for (const Member& each : members_)
    if (each.rank != members_[own_].rank) wire.unpack(rows_of(each, of_row));
}

// Merges what the ranks of a row of CAGNET's grid have aggregated, each over its column's sources, at the
// rank that owns the vertices. On the way back it spreads the owner's gradients over the row.

/// One per exchange; references must outlive it.
class CagnetMerge final : public RowGroup {
 public:
  CagnetMerge(Context& ctx, CagnetRow& row, Precision wire)
      : ctx_(ctx), row_(row), sums_wire_(ctx, wire), whole_(ctx, Precision::kFloat32), wire_(sums_wire_) {}

  /// Sets the purpose of the next gather's transfers.
  void begin(Traffic purpose) { purpose_ = purpose; }

  MatrixView summands(Index cols) override;
  void begin_whole(MatrixView summands, Rounding rounding) override;
  void end_whole(FunctionRef<void(MatrixView)> add) override;
  void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) override;
  MatrixView end_spread() override;

 private:
  Wire wire_of(Rounding rounding) const {
    return rounding == Rounding::kNever ? whole_ : sums_wire_.of(purpose_);
  }

  Context& ctx_;
  CagnetRow& row_;
  Wire sums_wire_, whole_;
  Wire wire_;  // for the transfer under way
  Traffic purpose_ = Traffic::kHalo;
  Event under_way_;
  MatrixView spread_;
};

MatrixView CagnetMerge::summands(Index cols) {
  static constexpr ScratchKey kSummands;
  return ctx_.workspace->matrix(kSummands, row_.vertices(), cols);
}

void CagnetMerge::begin_whole(MatrixView summands, Rounding rounding) {
  wire_ = wire_of(rounding);
  under_way_ = row_.collect(purpose_, wire_, summands);
}

void CagnetMerge::end_whole(FunctionRef<void(MatrixView)> add) {
  under_way_.wait();
  for (const MatrixView& term : row_.terms(wire_)) add(term);
}

void CagnetMerge::begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) {
  static constexpr ScratchKey kSpread;
  wire_ = wire_of(rounding);
  spread_ = ctx_.workspace->matrix(kSpread, row_.vertices(), cols);
  write(row_.own(spread_));
  under_way_ = row_.spread(purpose_, wire_, spread_);
}

MatrixView CagnetMerge::end_spread() {
  under_way_.wait();
  row_.unpack(wire_, spread_);
  return spread_;
}

class Cagnet final : public Exchange {
 public:
  Cagnet(Context& ctx, Communicator& comm, const GraphPart& part, const OwnerBlocks& blocks,
         std::vector<ExchangedLayer> layers, int replication, Precision wire)
      : layers_(std::move(layers)),
        grid_{comm.size(), replication},
        rounds_(ctx, comm, part, blocks, layers_, grid_, wire),
        row_(ctx, comm, blocks, grid_),
        merge_(ctx, row_, wire),
        halo_(ctx.device, layers_, rounds_.halo_rows(),
              [&](const ExchangedLayer&) { return rounds_.halo_rows(); }) {
    if (grid_.replication > 1) rounds_.merge_by(&merge_);
  }

  std::vector<Index> source_rows(int) const override { return rounds_.source_rows(); }
  Index bytes() const override { return rounds_.bytes() + halo_.bytes(); }

  Gather& gather(const GatherRequest& what) override {
    merge_.begin(what.purpose);
    if (layer(what).fixed) return rounds_.gather_features(what.rows);
    return rounds_.gather(what, rounds_.all(), halo_of(what));
  }
  Gather& gather_back(const GatherRequest& what, MatrixView d_rows) override {
    merge_.begin(Traffic::kHaloGradient);
    if (layer(what).fixed) return rounds_.gather_features(what.rows);
    return rounds_.gather_back(what, rounds_.all(), halo_of(what), d_rows);
  }

 private:
  const ExchangedLayer& layer(const GatherRequest& g) const { return layers_[std::size_t(g.layer)]; }

  /// Where a layer's halo rows lie from forward to backward.
  MatrixView halo_of(const GatherRequest& g) {
    return layer(g).keep ? halo_.kept(g.layer) : halo_.shared(rounds_.halo_rows(), layer(g).cols);
  }

  std::vector<ExchangedLayer> layers_;
  CagnetGrid grid_;
  CagnetRounds rounds_;
  CagnetRow row_;  // for 1.5D, like merge_
  CagnetMerge merge_;
  HaloBuffers halo_;
};

}  // namespace

std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               const OwnerBlocks& blocks, std::vector<ExchangedLayer> layers,
                                               int replication, Precision wire) {
  return std::make_unique<Cagnet>(ctx, comm, part, blocks, std::move(layers), replication, wire);
}

}  // namespace atl
