// How large one rank's part of a prepared graph is: the sizes that localize() would build, counted without
// building.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/layer_work.h"
#include "model/model.h"
#include "partition/prepared_graph.h"
#include "partition/server_graph.h"
#include "strategies/schedule/strategy.h"

namespace atl {

struct PeerShape {
  Rank peer = 0;
  Index send = 0, receive = 0;  // rows per layer
  std::vector<Index> send_slices,
      receive_slices;  // offsets of slices in these rows (PeerRows), for a part in slices
};

/// The rows that a layer computes, given how many layers follow it (NearBlock).
struct NearShape {
  Index rows = 0, sources = 0, halo = 0;
  Index own_arcs = 0, outer_arcs = 0;
  std::vector<PeerShape> peers{};
};

struct RankShape {
  Rank rank = 0;
  int ranks = 1;
  Index owned = 0, boundary = 0, halo = 0;  // LocalGraph's
  Index own_arcs = 0, outer_arcs = 0;       // arcs that owned rows gather from owned rows, from halo rows
  std::vector<NearShape> near{};  // by the number of gathering layers that follow, if some rows are copies
  Index near_bytes = 0;           // of NearBlocks
  Index server_bytes = 0;         // of the server's graph, which the rank's share is cut from
  bool is_followed = false;       // a part follows, which is read while this one trains
  bool features = true, answers = true;  // DataShare
  Index copies = 0;          // owned rows that are copies of other servers' vertices: no loss counts them
  LayerRange layers{0, -1};  // the rank's layers; −1: to the last
  bool batches = false;      // the rank trains on mini-batches, and holds no arcs
  Index column_rows = 0;     // rows of features, where the rank holds some columns of all vertices
  bool own_is_symmetric = false;  // own arcs equal their transpose, which isn't stored
  std::vector<PeerShape> peers;   // ranks that rows are exchanged with, ascending
  // the strategy's own view of the part, shared by all copies of this shape; null: it has none
  std::shared_ptr<const ViewSizes> view{};

  Index arcs() const { return own_arcs + outer_arcs; }
  Replaces replaced() const { return view ? view->replaces() : Replaces::kNothing; }
};

/// Reads the rank's arcs once, front to back, and keeps none of them. induced_on: as in LocalizeOptions;
/// empty: counts the whole graph.
RankShape rank_shape(const PreparedGraph& graph, Rank rank, const VertexMarks& induced_on);
/// Adds to `shape` the slices that its peers exchange. `graph` is the shape's part. Call before on_ranks(),
/// while the shape's peers are still parts.
void add_slices(const LocalGraph& graph, RankShape& shape);

/// The shape of a rank's share of its server's graph.
RankShape rank_shape(const RankShare& share, int ranks);
/// Adds `layers` layers to `shape` that read no copies but `part`. They come after the layers that read
/// copies.
void add_beyond(const RankShape& part, int layers, RankShape& shape);

/// `shape` with ranks in place of parts, where ranks are numbered otherwise or several have the same part.
RankShape on_ranks(RankShape shape, const PartRanks& on, int ranks);

// What one rank computes in a training epoch, layer by layer (model/layer_work.h).

/// Forward and backward of each of the rank's layers that runs in every epoch. `recompute` adds another
/// forward.
EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute);

/// As epoch_work(), for mini-batches, whose layers each have their own sizes. The inputs of layers up to
/// `fixed` take no gradient.
EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute, int fixed = 0);

/// The work of the forward pass alone.
EpochWork evaluation_work(const Model& model, const RankShape& shape);

// Sizes of a rank's share of its server's graph, where servers hold copies of each other's vertices
// (DataShare::server). Each batch of the server has its own sizes.

/// Ask for all ranks of one server before the next server's: then each server's graphs are built once.
class ServerShapes {
 public:
  /// Both arguments outlive it.
  ServerShapes(const Job& job, const PreparedGraph& prepared) : job_(job), prepared_(prepared) {}
  /// The rank's shapes, by batch.
  const std::vector<RankShape>& of(Rank rank, const GraphMarks& marks, int ranks);
  /// The index of the largest batch of the server that was asked for last.
  std::size_t largest() const { return largest_; }
  /// How many layers read no copies, on the server that was asked for last.
  int beyond() const { return beyond_; }

 private:
  const Job& job_;
  const PreparedGraph& prepared_;
  int first_part_ = -1;  // the first part of the server that shapes_ describes
  int beyond_ = 0;
  std::vector<std::vector<RankShape>> shapes_;  // by rank of the server, by batch
  std::size_t largest_ = 0;
};

/// The number of batches in which each server's vertices are trained; 1 where servers hold no copies.
int server_batches_of(const Job& job);

}  // namespace atl
