// Runs a range of a model's layers forward and backward, on any rows and with any version of the weights. A
// full batch, a stage of a pipeline on one of its chunks, and a mini-batch use the same runner with other
// arguments.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "strategies/schedule/schedule.h"

namespace atl {

// The memory of one pass over some layers: their outputs, what forward leaves for backward, and gradients.
// Buffers that never live at the same time are shared. A pass with other numbers of rows reuses it.

/// Which passes the memory must serve.
enum class Passes {
  kTraining,  // all layers' outputs and saved matrices live from forward to backward
  // training.recompute: layer. Just before a layer's backward, its saved matrices are made again, so that
  // only one layer's live at a time
  kRecomputing,
  kInference  // no backward: outputs take turns in two buffers
};

/// Memory that only a backward pass needs: gradients, and saved matrices that it computes again. Passes over
/// the same layers can share it if they go backward one after the other.
struct BackwardMemory {
  Matrix d_rows[2];  // (1, Reals that they take): gradients alternate between the two
  Matrix d_output, d_tap;
  Matrix saved;  // of one layer, where only one layer's live at a time
  void count(ScheduleBytes& bytes) const;
};

class PassMemory {
 public:
  /// `model` must outlive it. Nothing is held before shape(). varies: the number of rows changes from pass to
  /// pass, as it does with batches, so shape() allocates a little more than it needs.
  PassMemory(Device device, const Model& model, LayerRange layers, Passes passes, bool varies = false);

  /// Makes room for these row counts, one entry for each layer of the range. The former contents are lost.
  /// Memory grows where it is too small, and never shrinks.
  void shape(const std::vector<LayerRows>& rows);
  /// Makes a layer write its output to `output` (outputs, the layer's out) instead of memory of its own. Call
  /// it for all layers or for none, before shape(). Call it again, with memory of the same shape, when that
  /// memory moves.
  void place_output(int layer, MatrixView output) {
    placed_.resize(saved_.size());
    placed_[at(layer)] = output;
  }
  /// Takes backward's memory from `shared`, which other passes use too. A layer's saved matrices then don't
  /// outlive its forward, unless the pass keeps those of all layers. Call before shape(), and call
  /// place_d_output() too. `shared` must outlive this.
  void share(BackwardMemory& shared) { shared_ = &shared; }
  /// Sets the memory of d_output(): (outputs, out) of the last layer. Call it again when that memory moves.
  void place_d_output(MatrixView d_output) { d_output_ = d_output; }
  /// Makes room in the shared memory for a pass of these rows. Call before any pass is shaped.
  void make_room(const std::vector<LayerRows>& rows);
  /// Stores everything in Reals, however the model's values are stored. Call before shape().
  void store_reals() { values_ = Storage::kReals; }
  /// Whether backward leaves the outputs as they are, instead of reusing their memory.
  void keep_outputs(bool on) { keeps_outputs_ = on; }
  bool keeps_outputs() const { return keeps_outputs_; }
  /// How often shape() has had to ask for more memory.
  std::int64_t reallocations() const { return reallocations_; }

  const LayerRange& layers() const { return layers_; }
  Passes passes() const { return passes_; }
  MatrixView output(int layer);  // (outputs, the layer's out)
  /// The input of a layer that isn't the first, (inputs, the layer's in): the output of the layer below,
  /// followed by other rows that the pass brings.
  MatrixView input(int layer);
  Saved& saved(int layer) { return saved_[at(layer)]; }
  /// Whether the saved matrices of a layer's forward are still there for its backward.
  bool keeps_saved(int layer) const {
    return passes_ == Passes::kTraining || (shared_ == nullptr && layer + 1 == layers_.end);
  }
  const LayerRows& rows(int layer) const { return rows_[at(layer)]; }
  MatrixView d_output() { return d_output_; }  // (outputs, out) of the last layer; for training
  /// The gradient of the input of a layer that isn't the first: (inputs, the layer's in). It shares memory
  /// with the gradient of the layer's output only where the layer works in place.
  MatrixView d_input(int layer);
  /// The range's layer whose output later layers read, in or behind the range; −1: none.
  int tapped() const { return tapped_; }
  MatrixView d_tap();  // (outputs of the tapped layer, its out)
  /// Adds the bytes that it holds, without shared memory.
  void count(ScheduleBytes& bytes) const;

 private:
  std::size_t at(int layer) const { return std::size_t(layer - layers_.first); }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  std::size_t output_buffer(int layer) const;
  /// How a layer's output and its gradient are stored. The model's last output is in Reals, because losses,
  /// metrics and predictions read it.
  Storage stored(int layer) const {
    return layer + 1 == int(model_.layers.size()) ? Storage::kReals : values_;
  }
  Index input_rows(int layer) const;
  std::size_t gradient_turn(int layer) const;
  void grow(Matrix& memory, Index elements);
  void grow_backward(const std::vector<LayerRows>& rows);
  BackwardMemory& backward() { return shared_ == nullptr ? own_ : *shared_; }
  Matrix& saved_memory(int layer) {
    return passes_ == Passes::kTraining ? saved_memory_[at(layer)] : backward().saved;
  }

  Device device_;
  const Model& model_;
  LayerRange layers_;
  Passes passes_;
  Storage values_;
  bool varies_, keeps_outputs_ = false;
  int tapped_ = -1;
  std::int64_t reallocations_ = 0;
  std::vector<LayerRows> rows_;       // by layer of the range
  std::vector<Matrix> outputs_;       // (1, Reals that they take): by layer, or by buffer
  std::vector<MatrixView> placed_;    // by layer of the range; empty: outputs are in outputs_
  std::vector<Matrix> saved_memory_;  // by layer; empty: one layer's lives at a time
  std::vector<Saved> saved_;          // by layer, views into saved_memory_ or backward's memory
  MatrixView d_output_;
  BackwardMemory own_;
  BackwardMemory* shared_ = nullptr;  // null: own_
};

/// The verbs of one pass. bind() tells it which layer comes next.
class Pass : public Verbs {
 public:
  using Verbs::Verbs;
  virtual void bind(int layer) = 0;
  /// On while backward repeats a forward (recompute).
  void repeat(bool on) { state_.repeating = on; }
  /// Sets PassState::sent for the layer that it is bound to.
  void send(ConstMatrixView boundary) { state_.sent = boundary; }
};

/// The input of the first layer of the range.
struct RangeInput {
  Rows rows;            // (inputs, in)
  ConstMatrixView tap;  // output of a layer before the range; or empty
  // (destinations, in) the destinations' rows, where `rows` are packed and not all are destinations; empty:
  // the first ones of `rows` are
  Rows self{};
};

/// Gradients at the ends of a range. Two leave it, and one enters it beside the gradient of its output.
/// Empty: there is no such gradient.
struct RangeGradient {
  MatrixView rows;         // (inputs, in) for the first layer; written
  MatrixView tap;          // for a layer before the range; added to
  ConstMatrixView tapped;  // for the output of the range's tapped layer, as later layers have left it
};

/// A rank needs only one, because it has no state of its own. References must outlive it.
class LayerRunner {
 public:
  LayerRunner(Context& ctx, const Model& model, Trace* trace) : ctx_(ctx), model_(model), trace_(trace) {}

  /// The result is memory.output() of the last layer. Collective where the layers' verbs are.
  void forward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input) const;
  /// Runs one layer of the range.
  void forward(int layer, Pass& pass, const WeightVersion& weights, PassMemory& memory,
               const RangeInput& input) const;
  /// Goes backward over the range and adds to the weights' gradients. Call after forward(), with the same
  /// arguments. memory.d_output() holds the gradient of the output, and is overwritten. `step`, where given,
  /// is told each layer whose gradients are complete.
  void backward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input,
                const RangeGradient& gradient, TrainingStep* step) const;
  /// The input of `layer`, as forward has left it.
  LayerInput input_of(int layer, PassMemory& memory, const RangeInput& input) const;

 private:
  void backward_layer(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                      const RangeInput& input, MatrixView d_out, const LayerGradient& gradient,
                      TrainingStep* step) const;
  /// PassState::sent for layer l.
  ConstMatrixView sent_of(int l, const Pass& pass, PassMemory& memory) const;
  void enter(Work work, int layer) const;
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Context& ctx_;
  const Model& model_;
  Trace* trace_;  // null: no trace is wanted
};

}  // namespace atl
