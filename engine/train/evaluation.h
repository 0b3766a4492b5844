// Metrics over the whole graph from each rank's logits. They are the same on any number of ranks.
#pragma once

#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "telemetry/record.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"
#include "train/rank_data.h"

namespace atl {

/// Fractions 0 … 1 by the job's metric; absent where a split is empty, or has one class alone and the metric
/// is ROC-AUC.
struct Evaluation {
  std::optional<double> train, validation, test;
  std::optional<double> validation_loss;  // mean over validation vertices
};

/// Counts over each split, made in one pass over the logits.
struct SplitCounts {
  LabelCounts splits[3];
  double validation_loss = 0;
};

/// The memory of an evaluation, kept for the next one: freeing a device's memory makes the host wait until
/// the device has done all its work.
struct EvaluationBuffers {
  explicit EvaluationBuffers(Device device) : counted(device, 1), by_class(device) {}
  Buffer<SplitCounts> counted;             // (1)
  Buffer<ClassCounts> by_class;            // (splits, classes), for F1-macro
  std::vector<ClassCounts> by_class_here;  // the same in the host's memory
  HostRows logits;                         // for ROC-AUC
};

/// logits (owned, classes). The host waits for its device once, and once more for ROC-AUC. Collective.
Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits, EvaluationBuffers& buffers);

/// With more classes there is no confusion matrix, on any rank or in run.json, because its size is their
/// square.
inline constexpr Index kMostConfused = 1024;

/// Over test vertices; empty for multi-label data, and for more than kMostConfused classes. Collective.
ConfusionMatrix confusion_of(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits);

/// *sum += Σ of the job's loss over `rows`. Writes its gradient times `scale` to d_logits, unless that is
/// empty. `labels` belong to the logits' rows. All in the device's memory.
void loss_of(Context& ctx, const LabelView& labels, Loss loss, ConstMatrixView logits,
             std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum);

// The area under the ROC curve over all ranks' rows.

/// For one class, from the scores of positives and negatives; ties count half, and a score that is no number
/// is wrong about its vertex. Absent unless there are positives and negatives.
std::optional<double> roc_auc(std::vector<std::pair<float, bool>> scored);

/// With two classes, the area for label 1, by the score logit 1 − logit 0. Multi-label: the mean over the
/// classes in which both labels occur (OGB's rule). Rank 0 receives the scores of all ranks' `rows`, one
/// class after the other, and sends the result to all. It holds 16 bytes for each of the split's vertices,
/// every other rank 8 for each of its own. Logits are in the host's memory. Collective.
std::optional<double> roc_auc(Communicator& comm, const RankData& data, ConstMatrixView logits,
                              std::span<const VertexId> rows);

}  // namespace atl
