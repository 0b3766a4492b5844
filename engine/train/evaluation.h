// Metrics over the whole graph from each rank's logits: what one rank would print, on any number of ranks.
#pragma once

#include <optional>

#include "comm/communicator.h"
#include "train/rank_data.h"
#include "train/telemetry/record.h"

namespace atl {

/// Fractions 0 … 1 by the job's metric; absent where a split is empty.
struct Evaluation {
  std::optional<double> train, validation, test;
  std::optional<double> validation_loss;  // mean over validation vertices
};

/// logits (owned, classes). Collective.
Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits);

/// Over test vertices; empty for multi-label data. Collective.
ConfusionMatrix confusion_of(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits);

/// *sum += Σ of the job's loss over `rows` and, where d_logits isn't empty, its gradient times `scale`. `labels` are of the logits'
/// rows. All in the device's memory.
void loss_of(Context& ctx, const LabelView& labels, Loss loss, ConstMatrixView logits,
             std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum);

}  // namespace atl
