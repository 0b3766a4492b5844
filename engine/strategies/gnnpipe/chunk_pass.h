// The chunks of a part, and the verbs of a pass over one after the other (Chen et al. 2023, sections 3.2 and
// 3.3). A chunk reads this epoch's rows of chunks that are done, and rows of an earlier epoch, the history,
// for chunks that come later. Backward goes over the chunks in reverse, so that all readers of a chunk's rows
// have added to its gradient before its turn; rows of the history take no gradient.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/device_sums.h"
#include "model/model.h"
#include "strategies/exchange/boundary_set.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/halo_gather.h"
#include "strategies/schedule/layer_runner.h"
#include "strategies/schedule/strategy.h"
#include "tensor/context.h"

namespace atl {

// A part's arcs slice by slice, for a pipeline that works on one chunk after the other (chunk_view.cc). Each
// slice's rows read rows of their own slice and rows outside of it, which may be of an earlier epoch.

/// A run of neighbouring entries in a list of rows that belong to the same chunk. It begins where the run
/// before ends, and ends before `end`.
struct ChunkRun {
  Index end = 0;
  int chunk = 0;
};

/// A slice of a part's rows with its arcs, on which a pipeline works at a time.
struct ChunkRows {
  Index begin = 0, end = 0;  // owned rows begin … end − 1
  Block own, outer;          // destinations: the slice; sources: the slice, and `reads`
  // rows of owned + halo outside of the slice that it reads, ascending; in the host's memory …
  std::span<const VertexId> reads;
  std::span<const ChunkRun> runs;  // … and which chunks they belong to
  Index rows() const { return end - begin; }
};

/// The arrays of one slice. Memory: the arcs, twice, and the rows outside of the slice that it reads.
struct ChunkArrays {
  Index begin = 0, end = 0;     // the slice's owned rows
  std::vector<VertexId> reads;  // rows of owned + halo that the slice reads and doesn't contain; ascending …
  std::vector<ChunkRun> runs;   // … and their chunks
  std::vector<VertexId> ids;    // (reads) the data set's vertex ids
  std::vector<Real> scale;      // (reads) by the normalisation asked for; empty: all 1
  Csr own, own_transpose;       // (rows × rows)
  Csr outer, outer_transpose;   // (rows × reads)
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
};

class ChunkSizes final : public ViewSizes {
 public:
  struct Chunk {
    Index rows = 0, reads = 0;           // reads: rows outside of the chunk
    Index own_arcs = 0, outer_arcs = 0;  // arcs from its own rows, and from `reads`
  };
  explicit ChunkSizes(std::span<const ChunkArrays> slices);

  /// By slice.
  std::span<const Chunk> chunks() const { return chunks_; }
  Index bytes() const override { return bytes_; }
  std::unique_ptr<PartView> dry(const LocalGraph& graph, DryArcs arcs) const override;

 private:
  std::vector<Chunk> chunks_;
  Index bytes_ = 0;
};

/// Neither copyable nor movable: blocks point into it, and into the graph, which outlives it.
class ChunkView final : public PartView {
 public:
  /// Cuts one chunk per slice of `graph`, also for slices without arcs. `attention`: as in LocalizeOptions.
  ChunkView(const LocalGraph& graph, bool attention);
  /// Without contents, for a dry run.
  ChunkView(const LocalGraph& graph, const ChunkSizes& sizes, DryArcs arcs);
  ChunkView(const ChunkView&) = delete;

  /// By slice. Blocks lie where kernels read them.
  std::span<const ChunkRows> chunks() const { return chunks_; }
  std::unique_ptr<Schedule> schedule(const ScheduleInput& in) const override;
  void place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) override;
  std::shared_ptr<const ViewSizes> sizes() const override { return sizes_; }

 private:
  std::vector<ChunkArrays> arrays_;  // by slice; it doesn't grow any more once chunks_ point into it
  std::vector<ChunkRows> chunks_;
  std::shared_ptr<const ChunkSizes> sizes_;
};

// The rows that a stage of a pipeline keeps over all chunks: the input of each of its layers, and the last
// one's output. Layers that gather have them twice, from this epoch and from an earlier one (the history). A
// refresh swaps the two, so that nothing is copied. They also have a gradient for each row, to which the
// chunks that read the row add.

struct StageRowsOptions {
  bool trains = true;                 // false: no history, no gradients
  bool historical_gradients = false;  // keep the gradients of the history's rows for the next epoch
};

/// Neither copyable nor movable, because views point into it.
class StageRows {
 public:
  StageRows(Device device, const Model& model, const LayerRange& layers, const LocalGraph& graph,
            const StageRowsOptions& options);
  StageRows(const StageRows&) = delete;

  /// The present epoch's input of `layer` (owned, width). For the layer after the range it is the range's
  /// output.
  MatrixView present(int layer) { return slice(layer, present_, 0, owned_); }
  /// Of a layer that gathers: rows from other ranks (halo, in); the history's rows (owned + halo, in).
  MatrixView present_halo(int layer) { return slice(layer, present_, owned_, halo_); }
  MatrixView history(int layer) { return slice(layer, 1 - present_, 0, owned_ + halo_); }
  /// The rows of both epochs in one matrix, and the row at which each begins.
  ConstMatrixView both(int layer) const { return at(layer).rows.view(); }
  Index first_present() const { return present_ * (owned_ + halo_); }
  Index first_history() const { return (1 - present_) * (owned_ + halo_); }

  /// The gradient of a gathering layer's input (owned + halo, in): what chunks have added so far.
  MatrixView gradient(int layer) { return at(layer).gradient; }
  /// The gradient that the next epoch begins with; empty without historical_gradients.
  MatrixView historical_gradient(int layer) { return at(layer).historical; }

  /// Call before an epoch's backward: sets gradients to zero, or to the historical ones.
  void begin_backward(Context& ctx);
  /// From here on this epoch's rows are the history.
  void refresh();
  /// False where the history is zeros, because no epoch has left any, or a resumed run had to drop it
  /// (run_state.h).
  bool has_history() const { return known_.view().at(0, 0) != 0; }

  bool gathers(int layer) const { return at(layer).gathers; }
  const LayerRange& layers() const { return layers_; }
  /// The rows that a checkpoint keeps.
  std::vector<NamedMatrix> state();
  void count(ScheduleBytes& bytes) const;

 private:
  struct Layer {
    bool gathers = false;
    Matrix rows;  // ((owned + halo) · 2, in) where it gathers, otherwise (owned, in)
    Matrix gradient, historical;
  };
  const Layer& at(int layer) const { return inputs_[std::size_t(layer - layers_.first)]; }
  Layer& at(int layer) { return inputs_[std::size_t(layer - layers_.first)]; }
  MatrixView slice(int layer, Index half, Index first, Index count);

  LayerRange layers_;
  Index owned_, halo_, present_ = 0;
  StageRowsOptions options_;
  std::vector<Layer> inputs_;  // by layer of the range, and the range's output
  Matrix known_;  // (1, 1) in the host's memory; 1: there is a history; a checkpoint keeps it with the rows
};

// Which boundary rows of one chunk travel between the ranks of a stage: those of a rank's slice that others
// read in any chunk, once per layer and pass.

class ChunkBoundarySet final : public BoundarySet {
 public:
  ChunkBoundarySet(Context& ctx, const LocalGraph& graph, const Block& outer, std::size_t chunk,
                   Precision wire)
      : BoundarySet(wire), outer_(&outer), copies_(ctx) {
    for (const PeerRows& each : graph.peers) {
      const Index first = each.send_slices[chunk], end = each.send_slices[chunk + 1];
      const Index received = each.receive_slices[chunk], until = each.receive_slices[chunk + 1];
      const auto send = std::span(each.send).subspan(std::size_t(first), std::size_t(end - first));
      if (send.empty() && received == until) continue;
      peers_.push_back({each.peer, copies_.of(std::span<const VertexId>(send)), each.receive_begin + received,
                        until - received});
      sent_ += Index(send.size());
      arriving_ += until - received;
    }
  }
  Index sent() const override { return sent_; }
  Index arriving() const override { return arriving_; }
  std::span<const BoundaryRows> peers(std::int64_t) override { return peers_; }
  const Block& block(std::int64_t) override { return *outer_; }
  Index bytes() const override { return copies_.bytes(); }

 private:
  Index sent_ = 0, arriving_ = 0;
  const Block* outer_;
  DeviceCopies copies_;
  std::vector<BoundaryRows> peers_;
};

struct ChunkPassOptions {
  std::uint64_t seed = 1;             // of all draws
  Real gradient_scale = 1;            // factor on an aggregation's gradients for its sources
  bool historical_gradients = false;  // see StageRowsOptions
  Precision wire = Precision::kFloat32;
};

/// One per rank of a stage. References must outlive it.
class ChunkPass final : public Pass {
 public:
  /// chunks: the part's, by slice. group: the ranks of the stage. Collective over it.
  ChunkPass(Context& ctx, Communicator& comm, const Model& model, const GraphPart& part,
            std::span<const ChunkRows> chunks, StageRows& rows, const RankGroup& group,
            const ChunkPassOptions& options);

  /// Begins an epoch's training; `order` is that of the chunks. `step` keys its draws.
  void begin_training(std::int64_t step, std::span<const int> order);
  /// Begins exact inference. Chunks come in any order in which each finds the rows that it reads.
  void begin_inference();
  /// In inference: fetches the rows of `layer`'s input for this chunk that other ranks have, and waits for
  /// them. Collective over the group, as soon as every rank has its rows of the chunk.
  void exchange(int layer, int chunk);
  void at_chunk(int chunk);

  /// How many rows `layer` has on a chunk.
  LayerRows rows_of(int layer, int chunk) const;
  /// Bytes of the buffers for rows that arrive and leave, and of the lists of where they lie.
  Index bytes() const;
  /// The most rows that a chunk reads outside of itself.
  Index most_reads() const { return most_reads_; }

  Gather& gather(const Rows& rows) override { return there_.start(rows); }
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override { return back_.start(rows, d_rows); }
  void reduce(std::span<double> values) override {
    sums_.sum(ctx_, comm_, Traffic::kStatistics, group_, values);
  }
  void bind(int layer) override { layer_ = layer; }

 private:
  /// Gives own rows while other ranks' rows of this chunk travel, then the rows read outside of the slice.
  class There final : public Gather {
   public:
    explicit There(ChunkPass& pass) : pass_(pass) {}
    Gather& start(const Rows& rows);
    const Source* next() override;

   private:
    enum class Step { kOwn, kOuter, kEnd } step_ = Step::kEnd;
    ChunkPass& pass_;
    Rows rows_;
    PendingTransfer pending_;
    Source source_;
  };
  /// Gives the rows read outside of the slice first, so that gradients of other ranks' rows travel while own
  /// ones are computed.
  class Back final : public Gather {
   public:
    explicit Back(ChunkPass& pass) : pass_(pass) {}
    Gather& start(const Rows& rows, MatrixView d_rows);
    const Source* next() override;

   private:
    void send_gradients();
    void add();

    enum class Step { kOuter, kOwn, kAdd, kEnd } step_ = Step::kEnd;
    ChunkPass& pass_;
    Rows rows_;
    MatrixView d_rows_, d_outer_, received_;
    PendingTransfer pending_;
    Source source_;
  };

  const ChunkRows& here() const { return chunks_[chunk_]; }
  bool is_done(int chunk) const { return place_[std::size_t(chunk)] <= place_[chunk_]; }
  PendingTransfer fetch(Traffic purpose);
  MatrixView outer_rows(Index cols);
  ConstMatrixView gathered_outer();
  void add_outer(ConstMatrixView d_outer);

  Communicator& comm_;
  const Model& model_;
  const GraphPart& part_;
  std::span<const ChunkRows> chunks_;
  StageRows& rows_;
  const RankGroup& group_;
  ChunkPassOptions options_;
  std::vector<ChunkBoundarySet> boundary_set_;  // by chunk
  HaloTransfer transfer_;
  Matrix boundary_;                 // (most sent, widest): rows that leave, or gradients that arrive
  std::vector<double> chunk_rows_;  // (chunks) over all ranks of the stage
  Index most_reads_ = 0;
  // For the present pass:
  std::vector<int> place_;  // (chunks) the place in the epoch's order
  // by chunk: the rows of StageRows::both() that it reads outside of itself
  std::vector<std::vector<VertexId>> picked_;
  DeviceCopies copies_;                           // of picked_, and …
  std::vector<std::span<const VertexId>> picks_;  // … where kernels read them
  std::vector<std::span<const VertexId>> reads_;  // ChunkRows::reads where kernels read them
  DeviceCopies reads_copies_;
  DeviceSum sums_{ctx_.device};
  std::size_t chunk_ = 0;
  int layer_ = 0;
  There there_{*this};
  Back back_{*this};
};

}  // namespace atl
