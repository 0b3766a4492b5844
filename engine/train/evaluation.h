// Metrics over the whole graph from each rank's logits: what one rank would print, on any number of ranks.
#pragma once

#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"
#include "train/rank_data.h"
#include "telemetry/record.h"

namespace atl {

/// Fractions 0 … 1 by the job's metric; absent where a split is empty.
struct Evaluation {
  std::optional<double> train, validation, test;
  std::optional<double> validation_loss;  // mean over validation vertices
};

/// What is counted of each split in one visit of the logits.
struct SplitCounts {
  LabelCounts splits[3];
  double validation_loss = 0;
};

/// The memory of an evaluation, kept for the next one: to give a device's memory back, the host waits for all that the device was given.
struct EvaluationRoom {
  explicit EvaluationRoom(Device device) : counted(device, 1), by_class(device) {}
  Buffer<SplitCounts> counted;             // (1)
  Buffer<ClassCounts> by_class;            // (splits, classes), for F1-macro
  std::vector<ClassCounts> by_class_here;  // likewise
  HostRows logits;                         // for ROC-AUC
};

/// logits (owned, classes). The host waits once for its device, and for ROC-AUC once more. Collective.
Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits, EvaluationRoom& room);

/// Over test vertices; empty for multi-label data. Collective.
ConfusionMatrix confusion_of(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits);

/// *sum += Σ of the job's loss over `rows` and, where d_logits isn't empty, its gradient times `scale`. `labels` are of the logits'
/// rows. All in the device's memory.
void loss_of(Context& ctx, const LabelView& labels, Loss loss, ConstMatrixView logits,
             std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum);

}  // namespace atl
