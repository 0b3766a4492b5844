// Runs a range of a model's layers forward and backward, on whichever rows a pass has and with whichever
// version of the weights: a full batch, a stage of a pipeline and one of its chunks, a mini-batch are the
// same runner with other arguments.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "strategies/schedule/schedule.h"

namespace atl {

// The memory of one pass over some layers: their outputs, what forward leaves for backward, and gradients.
// Buffers that are never alive together are shared. A pass with other numbers of rows reuses it.

/// Which passes the memory must serve.
enum class Passes {
  kTraining,  // all layers' outputs and saved matrices live from forward to backward
  // recompute: layer — saved matrices are made again just before a layer's backward: one layer's at a time
  kRecomputing,
  kInference  // no backward: outputs take turns in two buffers
};

/// Memory that only a backward pass needs: gradients, and saved matrices that it computes again. Passes over
/// the same layers can share it if they go backward one after the other.
struct BackwardMemory {
  Matrix d_rows[2];  // (1, Reals that they take): gradients take turns
  Matrix d_output, d_tap;
  Matrix saved;  // where one layer's are alive at a time
  void count(ScheduleBytes& bytes) const;
};

class PassMemory {
 public:
  /// `model` outlives it. Nothing is held before shape(). varies: numbers of rows will, as batches' do; there
  /// is room above then.
  PassMemory(Device device, const Model& model, LayerRange layers, Passes passes, bool varies = false);

  /// Makes room for so many rows, of each layer of the range. What the memory held is lost. Memory grows
  /// where it doesn't suffice, and never shrinks.
  void shape(const std::vector<LayerRows>& rows);
  /// Makes a layer write its output to `output` (outputs, the layer's out) instead of memory of its own. Call
  /// it for all layers or for none, before shape(), and again with memory of the same shape when that moves.
  void place_output(int layer, MatrixView output) {
    placed_.resize(saved_.size());
    placed_[at(layer)] = output;
  }
  /// Shares backward's memory with other passes: a layer's saved matrices don't outlive its call unless all
  /// are kept. Call before shape(), and place d_output() too. `shared` outlives this.
  void share(BackwardMemory& shared) { shared_ = &shared; }
  /// (outputs, out) of the last layer; as place_output().
  void place_d_output(MatrixView d_output) { d_output_ = d_output; }
  /// Makes room in the shared memory for a pass of these rows. Call before any pass is shaped.
  void make_room(const std::vector<LayerRows>& rows);
  /// Stores everything in Reals, however the model's values are stored. Call before shape().
  void store_reals() { values_ = Storage::kReals; }
  /// Whether backward, which takes the outputs' memory for its own, leaves them as they are instead.
  void keep_outputs(bool on) { keeps_outputs_ = on; }
  bool keeps_outputs() const { return keeps_outputs_; }
  /// How often shape() has had to ask for more memory.
  std::int64_t reallocations() const { return reallocations_; }

  const LayerRange& layers() const { return layers_; }
  Passes passes() const { return passes_; }
  MatrixView output(int layer);  // (outputs, the layer's out)
  /// Where a layer that isn't the first finds its input, (inputs, the layer's in): the output of the one
  /// below, and behind it what other rows the pass brings.
  MatrixView input(int layer);
  Saved& saved(int layer) { return saved_[at(layer)]; }
  /// Whether a layer's saved matrices are those of its forward when its backward comes.
  bool keeps_saved(int layer) const {
    return passes_ == Passes::kTraining || (shared_ == nullptr && layer + 1 == layers_.end);
  }
  const LayerRows& rows(int layer) const { return rows_[at(layer)]; }
  MatrixView d_output() { return d_output_; }  // (outputs, out) of the last layer; in training
  /// (inputs, the layer's in), of a layer that isn't the first. Shares memory with the gradient of the
  /// layer's output only where the layer works in place.
  MatrixView d_input(int layer);
  int tapped() const {
    return tapped_;
  }                    // layer of the range whose output others read, also behind it; −1: none
  MatrixView d_tap();  // (outputs of the tapped layer, its out)
  /// Adds what is held, but for what is shared.
  void count(ScheduleBytes& bytes) const;

 private:
  std::size_t at(int layer) const { return std::size_t(layer - layers_.first); }
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  std::size_t output_buffer(int layer) const;
  /// Of a layer's output and its gradient: the model's last is what losses, metrics and predictions read.
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
  std::vector<Matrix> outputs_;       // (1, Reals that they take): by layer, or by turn
  std::vector<MatrixView> placed_;    // by layer of the range; empty: in outputs_
  std::vector<Matrix> saved_memory_;  // likewise by layer; empty: one is alive at a time
  std::vector<Saved> saved_;          // by layer, into saved_memory_ or the backward's
  MatrixView d_output_;
  BackwardMemory own_;
  BackwardMemory* shared_ = nullptr;  // null: own_
};

/// The verbs of one pass, told which layer is next.
class Pass : public Verbs {
 public:
  using Verbs::Verbs;
  virtual void bind(int layer) = 0;
  /// Whether forward is repeated during backward.
  void repeat(bool on) { state_.repeating = on; }
  /// PassState::sent, of the layer that it is bound to.
  void send(ConstMatrixView boundary) { state_.sent = boundary; }
};

/// What the first layer of the range reads.
struct RangeInput {
  Rows rows;            // (inputs, in)
  ConstMatrixView tap;  // of a layer before the range; or empty
  // (destinations, in) of packed rows with fewer destinations; empty: they are the first ones of `rows`
  Rows self{};
};

/// Gradients that leave the range, and one that enters it beside that of its output; empty: there are none.
struct RangeGradient {
  MatrixView rows;         // (inputs, in) of the first layer; written
  MatrixView tap;          // of a layer before the range; added to
  ConstMatrixView tapped;  // of the range's tapped layer's output, as layers behind the range have left it
};

/// Has no state of its own: a rank has one. References outlive it.
class LayerRunner {
 public:
  LayerRunner(Context& ctx, const Model& model, Trace* trace) : ctx_(ctx), model_(model), trace_(trace) {}

  /// The last layer's output is memory.output(). Collective where the layers' verbs are.
  void forward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input) const;
  /// One layer of it.
  void forward(int layer, Pass& pass, const WeightVersion& weights, PassMemory& memory,
               const RangeInput& input) const;
  /// After that forward, with the same arguments: adds to the weights' gradients. memory.d_output() is the
  /// gradient of the output, and isn't afterwards. `step`, where given, is told of each layer whose gradients
  /// are whole.
  void backward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input,
                const RangeGradient& gradient, TrainingStep* step) const;
  /// What `layer` reads, as forward has left it.
  LayerInput input_of(int layer, PassMemory& memory, const RangeInput& input) const;

 private:
  void backward_layer(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                      const RangeInput& input, MatrixView d_out, const LayerGradient& gradient,
                      TrainingStep* step) const;
  /// PassState::sent of layer l.
  ConstMatrixView sent_of(int l, const Pass& pass, PassMemory& memory) const;
  void tell(Work work, int layer) const;
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Context& ctx_;
  const Model& model_;
  Trace* trace_;  // null: nobody asked for one
};

}  // namespace atl
