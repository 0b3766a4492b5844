// A schedule decides in which order a strategy runs which layers on which rows in an epoch. The training
// session owns loss, optimiser and evaluation, and the schedule asks for them when it is ready. So one
// session trains full batches, pipelined chunks and mini-batches alike.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "job/job.h"
#include "model/model.h"
#include "strategies/exchange/exchange.h"

namespace atl {

struct BatchGraph;  // sampler/batch_sampling.h
struct StepPairs;   // sampler/pairs/pair_graph.h

/// The vertices that logits belong to: some of a batch, a slice of the part that training sees, or the whole
/// part.
struct LossRows {
  /// (n) numbers of rows of the rank's whole part, in the host's memory; empty: all rows of the part that
  /// training sees.
  std::span<const VertexId> rows{};
  // the step's training vertices over all ranks, by which the loss is divided; 0: all there are
  double total = 0;
  Index first = -1;    // the slice's first row; it has as many rows as logits. A step may have several slices
  bool ahead = false;  // the slice belongs to the next step, and counts there
  // For link prediction:
  const StepPairs* pairs = nullptr;  // a batch's; null: all training edges, with the step's negative pairs
  std::optional<WeightVersion> weights{};  // the decoder's; none: the present ones
};

/// What a schedule asks of the session during a step.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;
  /// Computes the loss of the step's logits and its gradient: logits, d_logits (n, classes). Rows that aren't
  /// labelled or don't train get a zero gradient.
  virtual void loss(ConstMatrixView logits, const LossRows& rows, MatrixView d_logits) = 0;
  /// Called before backward, with the same arguments on all ranks. In those weights of the layer that have a
  /// row per feature, only the rows of `features` (ascending) have a gradient on any rank. If it isn't
  /// called, or `features` is empty, any row may have one.
  virtual void touches(int /*layer*/, std::span<const VertexId> /*features*/) {}
  /// This rank's gradients of a layer, or of one part of it (LayerWeights::part_done), are complete, and
  /// their sum over ranks may begin. A step's last layer comes first. Collective.
  virtual void part_done(int /*layer*/, int /*part*/) {}
  virtual void layer_done(int /*layer*/) {}
  /// Sums the gradients over the ranks that share each parameter and takes one optimiser step. Collective.
  virtual void update() = 0;
};

/// The bytes that a schedule holds, by purpose.
struct ScheduleBytes {
  Index activations = 0;  // layers' outputs
  Index saved = 0;        // other matrices that forward leaves for backward
  Index gradients = 0;    // of activations
  Index halo = 0;         // rows from and to other ranks
  Index total() const { return activations + saved + gradients + halo; }
};

/// One per rank; calls are collective. References given to its maker must outlive it.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Number of optimiser steps per epoch.
  virtual std::int64_t steps() const { return 1; }
  /// Trains one step. Steps are counted from 1 through the whole run, and key their draws.
  virtual void train(std::int64_t step, TrainingStep& session) = 0;
  /// Exact logits of all owned rows (owned, classes) with the present weights, in the device's memory; valid
  /// until the next call.
  virtual ConstMatrixView infer() = 0;
  /// After infer(): the last layer's input (owned, width); empty where that is the sparse features.
  virtual ConstMatrixView embeddings() const = 0;
  /// Called from within TrainingStep::loss: by_layer[l] += number of elements of layer l's output that aren't
  /// finite, unless *unless is finite. Both lie in the device's memory.
  virtual void count_non_finite(const double* /*unless*/, double* /*by_layer*/) {}
  virtual ScheduleBytes bytes() const = 0;
  /// Goes on with another part, in the memory that the schedule has; the part before may be gone already.
  /// Only with DataShare::server. Collective.
  virtual void take(const GraphPart& /*part*/, double /*all_vertices*/) {
    ATOLL_CHECK(false, "a schedule of one part was given another");
  }
  /// As Exchange::state(): between two epochs, what this rank keeps besides parameters. Collective.
  virtual std::vector<NamedMatrix> state() { return {}; }
  /// Fills in figures that only this strategy has. Called between two steps.
  virtual void report(FigureRequest&) {}
};

/// A rank's threads that work beside those that train, on the same processors; any work may take them.
struct SideThreads {
  int count = 1;
  std::vector<int> cpus{};  // the rank's; empty: the kernel chooses
};

/// What a rank holds of the graph: a part of it, or the graph from which batches are drawn. It outlives the
/// schedule.
class Holding {
 public:
  Holding(const GraphPart& part) : part_(&part) {}      // NOLINT(google-explicit-constructor)
  Holding(const BatchGraph& graph) : graph_(&graph) {}  // NOLINT(google-explicit-constructor)
  const GraphPart& part() const {
    ATOLL_CHECK(part_ != nullptr, "a schedule of parts was given what batches are drawn from");
    return *part_;
  }
  const BatchGraph& batches() const {
    ATOLL_CHECK(graph_ != nullptr, "a schedule of batches was given a part");
    return *graph_;
  }

 private:
  const GraphPart* part_ = nullptr;
  const BatchGraph* graph_ = nullptr;
};

/// The arguments of a strategy's maker.
struct ScheduleInput {
  Context& ctx;
  Communicator& comm;
  const Job& job;
  const Model& model;
  Parameters& parameters;
  Holding holding;
  double all_vertices;  // how many vertices the whole graph of this holding has
  bool inference_only;  // only infer() will be called
  SideThreads side{};
};

}  // namespace atl
