// The view of a part whose rank receives rows owner by owner, as under CAGNET and Sancus, and aggregates each
// owner's rows when they come. There is one block per owner: the arcs from its rows to the rows that are
// aggregated here.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "strategies/exchange/block_rounds.h"
#include "strategies/schedule/schedule.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// The arcs from one owner's rows. Memory: the arcs, an offset per destination, and the ids of the owner's
/// rows that are read here.
struct SourceBlock {
  Rank owner = 0;
  std::vector<VertexId> rows;  // (src) which of the owner's rows, in its own numbering, ascending
  std::vector<VertexId> ids;   // (src) the data set's vertex ids
  std::vector<Real> scale;     // (src) by the normalisation asked for; empty: all 1
  Csr arcs;                    // (dst × src)
  Csr transpose;               // (src × dst)
  std::vector<Index> arc;      // places of transposed arcs; filled where attention needs them
};

/// Owns its arrays, and must not move while blocks, which are views into it, are in use.
struct SourceBlocks {
  std::vector<VertexId> ids;        // (dst) the destination ranks' rows, one rank after the other
  std::vector<Real> scale;          // (dst) likewise
  std::vector<SourceBlock> blocks;  // only owners whose rows are read, in the order of turns
};

/// Makes a strategy's schedule over such blocks, which outlive it.
using MakeOverOwners = std::unique_ptr<Schedule> (*)(const ScheduleInput& in, const OwnerBlocks& blocks);

class OwnerSizes final : public ViewSizes {
 public:
  OwnerSizes(const SourceBlocks& built, std::vector<Index> owned_by_rank, Replaces replaces,
             MakeOverOwners make);

  Index bytes() const override { return bytes_; }
  Replaces replaces() const override { return replaces_; }
  std::vector<Index> reads() const override;
  std::unique_ptr<PartView> dry(const LocalGraph& graph, DryArcs arcs) const override;

 private:
  friend class OwnerView;
  struct Owner {
    Rank rank = 0;
    Index rows = 0, arcs = 0;
  };
  std::vector<Owner> owners_;  // owners whose rows are read
  Index destinations_ = 0;     // rows that are aggregated here
  std::vector<Index> owned_by_rank_;
  Replaces replaces_;
  MakeOverOwners make_;
  Index bytes_ = 0;
};

/// Neither copyable nor movable: blocks point into it.
class OwnerView final : public PartView {
 public:
  /// For the grid of the job's strategy (cagnet_grid).
  OwnerView(const ViewInput& in, MakeOverOwners make);
  /// Without contents, for a dry run.
  OwnerView(const OwnerSizes& sizes, DryArcs arcs);
  OwnerView(const OwnerView&) = delete;

  std::unique_ptr<Schedule> schedule(const ScheduleInput& in) const override;
  void place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) override;
  std::vector<std::span<const VertexId>> reads() const override;
  std::shared_ptr<const ViewSizes> sizes() const override { return sizes_; }

 private:
  SourceBlocks arrays_;
  OwnerBlocks blocks_;
  std::shared_ptr<const OwnerSizes> sizes_;
};

/// A full batch in which every block is sent in every pass.
std::unique_ptr<Schedule> all_blocks_full_batch(const ScheduleInput& in, const OwnerBlocks& blocks);

}  // namespace atl
