// Where full-batch schedules get rows that a rank doesn't own: in time or stale, all, sampled, broadcast or
// cached. An exchange is one file or folder. Those that several strategies use have their makers below.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "model/verbs.h"
#include "partition/local_graph.h"
#include "strategies/exchange/boundary_set.h"

namespace atl {

class FigureRequest;  // figure_request.h
class PartView;       // strategies/schedule/strategy.h
struct OwnerBlocks;   // block_rounds.h

/// Where some rows are copies (NearBlock): what a layer computes and reads, by how many gathering layers come
/// behind it.
struct NearRows {
  Index rows = 0, sources = 0;  // how many of the owned rows, the first ones, are computed, and may be read
  Index halo = 0;               // rows of other ranks that they read
  Block own, outer;             // destinations: these rows; sources: owned and halo rows
  std::span<const PeerRows> peers;  // in the host's memory
};

/// One rank's part of a graph with its features, as every full-batch pass sees it. The session owns it.
/// Arrays lie in the device's memory, where kernels read them, except those of `graph`.
struct GraphPart {
  const LocalGraph* graph = nullptr;
  std::span<const VertexId> ids;      // (owned) original vertex ids
  Block own, outer;                   // destinations: owned rows; sources: owned and halo rows
  std::span<const Real> row_weights;  // (owned) how much each counts in sums over vertices; empty: 1
  Rows features;                      // (owned, F)
  // (halo, F): they never change, so each rank reads them from the data set once and none are sent; empty
  // where the first layer doesn't gather
  Rows halo_features;
  // how many owned rows, from the first on, contain all rows that other ranks read
  Index boundary = 0;
  // Where some owned rows are copies of other servers' rows, these replace `own` and `outer`, by the number
  // of gathering layers behind:
  std::vector<NearRows> near;
  // (rows that the first layer computes, F) their features, where they aren't all rows and `features` is
  // packed, which can't be sliced
  Rows computed_features;
  // what the strategy made of the part for its own schedule; null: nothing …
  const PartView* view = nullptr;
  // … and the features that it reads, a matrix (its vertices, F) for each list of PartView::reads(). They
  // take the place of halo_features, and are empty where these would be.
  std::vector<Rows> read_features;

  /// The number of owned rows that a layer computes if `hops_left` of the layers after it gather.
  Index rows(int hops_left) const {
    if (near.empty()) return graph->owned;
    return hops_left < int(near.size()) ? near[std::size_t(hops_left)].rows : near.back().sources;
  }
};

/// What an exchange must know of a layer before the first pass.
struct ExchangedLayer {
  Index cols = 0;  // columns of the rows that gathers bring: of its input, or of products
  bool gathers = false;
  bool fixed = false;  // its input is the features
  bool once = false;   // gathered before the first pass, and never again
  bool keep = false;   // backward reads halo rows again
  int hops_left = 0;   // gathering layers behind it
  bool travels() const { return gathers && !fixed && !once; }  // its input's rows, in every pass
};

/// What one gather of one pass brings.
struct GatherRequest {
  int layer;
  const Rows& rows;        // (owned, cols)
  Traffic purpose;         // kHalo, kEvaluation, kRecompute, or kSetup for what is gathered once
  ConstMatrixView sent{};  // see PassState::sent
  bool trains() const { return purpose == Traffic::kHalo || purpose == Traffic::kRecompute; }
};

/// A matrix of a rank's own state, with its name in checkpoints.
struct NamedMatrix {
  std::string name;
  MatrixView values;
  Device device = Device::kCpu;  // where the values lie
};

/// One per rank and graph part. Calls are collective: all ranks make the same ones in the same order.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// By slot, how many rows the source blocks of a gathering layer have at most; a block may have fewer.
  virtual std::vector<Index> source_rows(int layer) const = 0;
  /// Bytes of the buffers for rows that arrive and leave.
  virtual Index bytes() const = 0;
  /// Call before the first gather of a pass. `epoch` (from 1) belongs to a training pass, and keys its draws.
  virtual void begin(std::int64_t /*epoch*/, bool /*training*/) {}
  /// As Verbs::gather and gather_back. Only one gather of an exchange is open at a time. On the way back,
  /// contributions are added in a fixed order: own rows first, then peers by rank.
  virtual Gather& gather(const GatherRequest& what) = 0;
  virtual Gather& gather_back(const GatherRequest& what, MatrixView d_rows) = 0;
  /// Between two epochs: the state that a resumed run must restore here to go on as if it had never stopped.
  /// Order, names and shapes depend only on job and part. Waits for what is under way. Returns views of the
  /// exchange's memory.
  virtual std::vector<NamedMatrix> state() { return {}; }
  /// Between two passes: offers figures that it alone has.
  virtual void report(FigureRequest&) {}
};

/// exact.cc, "vanilla partition-parallel training" of PipeGCN (section 2, figures 1a and 2a): sends this
/// step's boundary rows to every rank that reads them. With `overlap`, own rows are aggregated while halo
/// rows travel, and own gradients are computed while halo gradients travel. Without, each transfer is waited
/// for (the synchronous baseline of the papers). `boundary_set` says which rows training's passes exchange;
/// null: all, unrounded. With a sample it is BNS-GCN's exchange.
std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap,
                                              std::unique_ptr<BoundarySet> boundary_set = nullptr);

/// whole_blocks.cc, CAGNET's: every rank's whole block goes to all others, owner by owner (Tripathy et al.
/// 2020, section IV: 1D and, with a replication above 1, 1.5D).
std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               const OwnerBlocks& blocks, std::vector<ExchangedLayer> layers,
                                               int replication, Precision wire = Precision::kFloat32);

}  // namespace atl
