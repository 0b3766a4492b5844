// The schedule of one rank of a pipeline (Chen et al. 2023, "GNNPipe"): its stage's layers over one chunk
// after the other, forward and then backward in reverse, with one optimiser step per epoch. Inference is
// exact: a chunk moves on as soon as the rows that it reads are there.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "strategies/exchange/wire.h"
#include "strategies/gnnpipe/chunk_pass.h"
#include "strategies/gnnpipe/figures.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/schedule/full_batch.h"
#include "tensor/context.h"

namespace atl {

// Which layers each stage of a pipeline has, what stages send each other, and the order of an epoch's chunks.

/// The layers of each stage: as the job says, or such that the slowest stage has as little work as possible.
/// Layers that are computed once belong to the first stage and cost nothing. Throws Error where there are
/// more stages than layers.
std::vector<LayerRange> stage_ranges(const Job& job, const Model& model);

/// How many leading layers run over all rows before the first chunk: those that are computed once, or else
/// the first one if it reads neighbours' features, or packed features, which can't be sliced by rows.
int whole_layers(const Model& model, bool packed_features);
/// The factor by which an epoch takes longer because other stages wait for the first stage's whole layer, by
/// the costs that stages are balanced with; 1: there is no such layer, or no other stage.
double stall_of_whole_layer(const Job& job, const Model& model, bool packed_features);

/// The layer whose output a later stage reads beside its input (GCNII's h⁰); −1: none.
int tap_into(const Model& model, const LayerRange& stage);
/// The tap that goes on from `stage` to the next one.
int tap_out_of(const Model& model, const LayerRange& stage);

/// (chunks) All chunks in the order in which forward takes them in `epoch`; backward takes them in reverse.
void put_chunk_order(std::span<int> order, bool shuffle, std::uint64_t seed, std::int64_t epoch);

// The order in which a stage infers its chunks (stage_chunks.cc).

/// For each chunk, the other chunks that it reads in a layer that gathers.
using ChunkReads = std::vector<std::vector<int>>;

/// What any rank of the group reads for each chunk; the same on all of them. Collective over the group.
ChunkReads reads_of_group(Communicator& comm, const RankGroup& group, std::span<const ChunkRows> chunks);

/// One thing that a stage does.
struct FlowStep {
  enum class Kind {
    kArrive,  // waits for the chunk's rows from the stage before
    kRun,     // runs a layer of the stage over the chunk
    kLeave    // sends the chunk's output of the last layer
  };
  Kind kind = Kind::kRun;
  int chunk = 0;
  int layer = 0;  // counted in the stage, from 0
  bool operator==(const FlowStep&) const = default;
};

/// Orders chunks so that those that read each other are close: each next chunk reads many of the chunks
/// before it and few others. Chunks arrive and leave in this order in every stage.
std::vector<int> flow_order(const ChunkReads& reads);

/// The steps of a stage; `gathers` says which of its layers gather. Of the layers that can run, each next
/// step takes the last.
std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers);

// The memory of a stage's passes over its chunks. Each chunk has its own memory for what forward leaves for
// backward. What only backward needs is shared, because one chunk at a time goes backward. Gradients that
// arrive from the next stage take turns in a few matrices.

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
  /// Keeps the outputs beyond backward, because they become the history.
  void keep_outputs(bool on);
  /// Sets the memory of chunks' output gradients, for an epoch with the chunks in this order.
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
  /// The number of receives under way. Chunks that are kAhead places apart may use the same matrices.
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

struct PipelineOptions {
  std::uint64_t seed = 1;
  Passes passes = Passes::kTraining;
  PipelineGrid grid{};
  LayerRange layers{};  // of the rank's stage
  bool shuffle = true, historical_gradients = false, scale_gradient = false;
  std::int64_t refresh = 23;  // α, epochs
  bool refresh_after_first = true;
  Precision wire = Precision::kFloat32;
};

/// Collective: all ranks make the same calls. References must outlive it.
class Pipeline final : public Schedule {
 public:
  /// `chunks`: the part's, by slice (ChunkView).
  Pipeline(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
           const GraphPart& part, std::span<const ChunkRows> chunks, double all_vertices,
           const PipelineOptions& options);

  void train(std::int64_t step, TrainingStep& session) override;
  /// (owned, classes) on ranks of the last stage, nothing on others.
  ConstMatrixView infer() override;
  ConstMatrixView embeddings() const override;
  ScheduleBytes bytes() const override;
  std::vector<NamedMatrix> state() override { return rows_->state(); }
  /// Offers StageTimes and StageNonFinite of the last step.
  void report(FigureRequest& request) override;

 private:
  void make_whole_layers(double all_vertices);
  void compute_prefix();
  void make_chunks();
  void run_whole_layers(std::int64_t step, bool training);
  void place_outputs();
  void keep_outputs(bool on);
  void forward_all(std::int64_t step);
  void forward(std::size_t place);
  void backward(std::size_t place, TrainingStep& session);
  void infer_layer(int layer, int chunk);
  void exchange_input(int layer, int chunk);
  void expect_rows(Traffic purpose, std::span<const int> order);
  void expect_gradients();
  ChunkMatrices leaving(int chunk);
  RangeInput input(int chunk);
  RangeGradient gradient(int chunk);
  MatrixView d_output(int chunk);
  MatrixView of_chunk(MatrixView all, int chunk) const;
  /// Whether the epoch's rows become the history. Those of the first epoch without a history do.
  bool refreshes_after(std::int64_t epoch) const {
    return epoch % o_.refresh == 0 || (o_.refresh_after_first && !rows_->has_history());
  }
  void enter(Work work) const;
  void work_on(int chunk) const;
  StageNonFinite recount_non_finite();
  /// A copy of `ctx` with constants.
  Context with_constants(Context ctx) {
    ctx.constants = &constants_;
    return ctx;
  }

  bool is_first() const { return stage_ == 0; }
  bool is_last() const { return stage_ + 1 == o_.grid.stages; }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Constants constants_;  // the weights, which don't change while an epoch's chunks are computed
  Context ctx_;
  Communicator& comm_;
  Trace* trace_;  // null: no trace is wanted
  const Model& model_;
  Parameters& parameters_;
  const GraphPart& part_;
  std::span<const ChunkRows> chunks_;
  PipelineOptions o_;
  int stage_;
  LayerRange layers_;  // of the stage
  RankGroup group_;    // the ranks of the stage
  LayerRunner runner_;

  // The first stage's layers that run over all rows at once: those that are computed once, or else a first
  // layer that reads packed features (they can't be sliced) or neighbours' (they needn't be waited for).
  LayerRange whole_;
  std::unique_ptr<Exchange> whole_exchange_;
  std::unique_ptr<FullBatchPass> whole_pass_;
  std::unique_ptr<PassMemory> whole_memory_;  // for the layer that isn't computed once; null: none

  LayerRange inside_;  // layers that run chunk by chunk; may be none
  std::unique_ptr<StageRows> rows_;
  std::unique_ptr<ChunkPass> pass_;
  std::unique_ptr<ChunkMemories> memories_;
  int tap_in_, tap_out_;          // −1: none
  Matrix tap_, d_tap_, d_input_;  // (owned, width): what arrived, and the gradients that leave
  ChunkArrivals from_previous_, from_next_;
  ChunkDepartures to_previous_, to_next_;
  std::vector<int> order_;      // of the epoch's chunks
  std::vector<int> inferred_;   // the order of chunks in inference …
  std::vector<FlowStep> flow_;  // … and the stage's steps then
  ChunkClock clock_;
  std::int64_t step_ = 0;   // the last one
  bool refreshed_ = false;  // whether the last step's rows have replaced the history
};

}  // namespace atl
