// How large one rank's part of a prepared graph is: what localize() would build, counted without building it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/layer_work.h"
#include "model/model.h"
#include "partition/near_blocks.h"
#include "partition/prepared_graph.h"
#include "partition/source_blocks.h"

namespace atl {

struct PeerShape {
  Rank peer = 0;
  Index send = 0, receive = 0;  // rows a layer …
  std::vector<Index> send_slices,
      receive_slices;  // … and of the slices up to each (PeerRows); of a part in slices
};

/// One slice of a part (ChunkBlock).
struct ChunkShape {
  Index rows = 0, reads = 0;           // that are read outside of it
  Index own_arcs = 0, outer_arcs = 0;  // to its own rows, and to others
};

/// The rows that a layer computes, given how many layers follow it (NearBlock).
struct NearShape {
  Index rows = 0, sources = 0, halo = 0;
  Index own_arcs = 0, outer_arcs = 0;
  bool is_whole = false;
  std::vector<PeerShape> peers{};
};

/// What is read of one owner (SourceBlock).
struct SourceShape {
  Rank owner = 0;
  Index rows = 0, arcs = 0;
};

struct RankShape {
  Rank rank = 0;
  int ranks = 1;
  Index owned = 0, boundary = 0, halo = 0;  // LocalGraph's
  Index own_arcs = 0, outer_arcs = 0;       // to owned rows, to halo rows
  std::vector<Index> owned_by_rank;         // (ranks) rows that each owns
  // Where the strategy takes rows owner by owner:
  bool by_owner = false;                 // not halo rows together
  bool for_others = false;               // OwnerReads::for_others()
  Index destinations = 0;                // rows that are aggregated here
  std::vector<SourceShape> sources{};    // owners with rows that are read
  std::vector<ChunkShape> chunks{};      // where rows are worked on slice by slice
  std::vector<NearShape> near{};         // where some rows are copies, by the number of layers behind
  int beyond = 0;                        // of them those that read no copies, the first ones: all alike
  Index server_bytes = 0;                // of the server's graph that its share is cut from
  bool is_followed = false;              // by others, each of which is read while the one before trains
  bool features = true, answers = true;  // PartShare
  Index copies = 0;                      // of the owned rows, of other servers' vertices: they count nothing
  LayerRange layers{0, -1};              // that the rank has; −1: to the last
  bool batches = false;                  // it trains on mini-batches, and holds no arcs
  Index column_rows = 0;          // of its columns of the features, where it holds some of all vertices'
  bool own_is_symmetric = false;  // then the transpose is not stored
  std::vector<PeerShape> peers;   // with anything to exchange, ascending

  Index arcs() const { return own_arcs + outer_arcs; }
};

/// Reads the rank's arcs once, front to back, and holds none of them; with `reads` or by_chunk, builds the
/// blocks that it counts. induced_on: as in LocalizeOptions; empty: of the whole graph.
RankShape rank_shape(const PreparedGraph& graph, Rank rank, std::span<const std::uint8_t> induced_on,
                     const std::optional<OwnerReads>& reads = {}, bool by_chunk = false);

/// The shape of a rank's graph that is in memory; `near` has the blocks of a server's share (GraNNDis).
RankShape rank_shape(const LocalGraph& graph, std::span<const NearBlock> near, int ranks);
/// Adds to `shape` that `layers` layers, after those that read copies, read `part`.
void add_beyond(const RankShape& part, int layers, RankShape& shape);

/// `shape` with the numbers of parts replaced by those of ranks, where ranks and parts are numbered
/// differently or several ranks have the same part.
RankShape on_ranks(RankShape shape, const PartRanks& on, int ranks);

// What one rank computes in a training epoch, layer by layer (model/layer_work.h).

/// Forward and backward of each of the rank's layers that runs each epoch. `recompute` adds another forward.
EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute);

/// As epoch_work(), for mini-batches, whose layers each have sizes of their own. Inputs of the first `fixed`
/// layers take no gradient.
EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute, int fixed = 0);

/// The forward alone.
EpochWork evaluation_work(const Model& model, const RankShape& shape);

}  // namespace atl
