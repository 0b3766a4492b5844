// The rows that a stage of a pipeline keeps over all chunks: the input of each of its layers, and the last
// one's output. Layers that gather have them twice, from this epoch and from an earlier one (the history). A
// refresh swaps the two, so that nothing is copied. They also have a gradient for each row, to which the
// chunks that read the row add.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "model/model.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"
#include "strategies/gnnpipe/chunk_view.h"
#include "strategies/schedule/layer_runner.h"
#include "tensor/context.h"

namespace atl {

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
  /// Rows from other ranks (halo, in), for a layer that gathers; below, the history's rows.
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

// The memory of a stage's passes over its chunks. Each chunk has its own memory for what forward leaves for
// backward. What only backward needs is shared, because one chunk at a time goes backward. Gradients that
// arrive from the next stage take turns in a few matrices.

class ChunkPass;

/// Neither copyable nor movable, because passes point into it. References must outlive it.
class ChunkMemories {
 public:
  /// Without `layers` it is empty. `arriving`: how many chunks' output gradients are there at the same time.
  ChunkMemories(Context& ctx, const Model& model, const LayerRange& layers, Passes passes,
                std::span<const ChunkRows> chunks, StageRows& rows, const ChunkPass& pass,
                std::size_t arriving);
  ChunkMemories(const ChunkMemories&) = delete;

  bool empty() const { return memories_.empty(); }
  PassMemory& of(int chunk) { return memories_[std::size_t(chunk)]; }
  /// Layers write their outputs where the next layer's input lies, which differs from one refresh to the
  /// next.
  void place_outputs();
  /// Keeps outputs that become the history beyond backward.
  void keep_outputs(bool on);
  /// For an epoch whose backward goes over the chunks from the last of `order` to the first.
  void place_gradients(std::span<const int> order);
  void count(ScheduleBytes& bytes) const;

 private:
  LayerRange layers_;
  std::span<const ChunkRows> chunks_;
  StageRows& rows_;
  BackwardMemory backward_;
  std::vector<PassMemory> memories_;  // by chunk
  std::vector<Matrix> d_outputs_;     // (rows of the largest chunk, the last layer's out), used in turn
};

// What stages send each other, chunk by chunk: rows and the tap forward, their gradients backward.

/// Matrices of one chunk that travel together: rows, or their gradients, with those of a tap where there is
/// one.
class ChunkMatrices {
 public:
  explicit ChunkMatrices(MatrixView rows) : all_{rows, {}} {}
  ChunkMatrices(MatrixView rows, MatrixView tap) : all_{rows, tap}, count_(2) {}
  std::span<const MatrixView> all() const { return {all_.data(), count_}; }

 private:
  std::array<MatrixView, 2> all_;
  std::size_t count_ = 1;
};

/// Receives what one rank sends, in the order of an epoch's chunks. A few receives are under way at a time,
/// for the chunk that is waited for and the next ones, so that these arrive during its computation.
/// References must outlive it.
class ChunkArrivals {
 public:
  /// The number of receives under way. Chunks that are so many places apart may use the same matrices.
  static constexpr std::size_t kAhead = 3;

  ChunkArrivals(Context& ctx, Communicator& comm, Rank from, Precision wire)
      : ctx_(ctx), comm_(comm), from_(from), wire_(ctx, wire) {}

  void begin(Traffic purpose);
  /// Adds the matrices that the next chunk goes to. Call it for all chunks before the first wait(); they must
  /// outlive the last one.
  void expect(const ChunkMatrices& matrices) { by_place_.push_back(matrices); }
  /// Call it for each place in turn.
  void wait(std::size_t place);

 private:
  void receive(std::size_t place);

  Context& ctx_;
  Communicator& comm_;
  Rank from_;
  Wire wire_;
  Traffic purpose_ = Traffic::kStage;
  std::vector<ChunkMatrices> by_place_;
  std::vector<Event> events_;
  std::vector<Message> messages_;  // of the receive that is started
};

/// Sends to one rank. Buffers must not move until finish().
class ChunkDepartures {
 public:
  ChunkDepartures(Context& ctx, Communicator& comm, Rank to, Precision wire)
      : ctx_(ctx), comm_(comm), to_(to), wire_(ctx, wire) {}

  /// Makes the buffers for rows that are rounded before they are sent: of all chunks, because they are under
  /// way together. `cols`: columns of each matrix.
  void make_staging(Index rows, std::span<const Index> cols);
  /// Sends matrices and leaves them as they are. first: their first row among all chunks' rows.
  void send(Traffic purpose, const ChunkMatrices& matrices, Index first);
  /// Sends matrices, which are overwritten by their packed form.
  void send_in_place(Traffic purpose, const ChunkMatrices& matrices);
  void finish();
  Index bytes() const;

 private:
  Context& ctx_;
  Communicator& comm_;
  Rank to_;
  Wire wire_;
  std::vector<Matrix> staging_;  // by matrix: (rows, Wire::copied_columns())
  std::vector<Event> events_;
  std::vector<Message> messages_;  // of the send that is started
};

}  // namespace atl
