#include "train/evaluation.h"

#include <array>

#include "train/f1_macro.h"
#include "train/roc_auc.h"

namespace atl {
namespace {

/// Counts whose ratio is the metric: accuracy = correct / rows; F1-micro = 2·tp / (2·tp + fp + fn).
struct Counts {
  double part = 0, whole = 0;
};

Counts count_accuracy(Context& ctx, const RankData& data, ConstMatrixView logits,
                      std::span<const VertexId> rows) {
  const LabelCounts counts = count_classes(ctx, logits, data.labels().classes.data(), rows);
  return {double(counts.right), double(counts.right + counts.wrong)};
}

/// Multi-label: a class is predicted where its logit is above 0 (training-systems.md, PipeGCN).
Counts count_f1_micro(Context& ctx, const RankData& data, ConstMatrixView logits,
                      std::span<const VertexId> rows) {
  if (!data.multi_label())
    return count_accuracy(ctx, data, logits, rows);  // the same thing for one label a vertex
  const LabelCounts counts = count_labels(ctx, logits, data.labels().target_rows(), rows);
  return {2 * double(counts.right), 2 * double(counts.right) + double(counts.wrong)};
}

}  // namespace

double loss_of(Context& ctx, const Labels& labels, Loss loss, ConstMatrixView logits,
               std::span<const VertexId> rows, Real scale, MatrixView d_logits) {
  if (loss == Loss::kBinaryCrossEntropy)
    return binary_cross_entropy(ctx, logits, labels.target_rows(), rows, scale, d_logits);
  return cross_entropy(ctx, logits, labels.classes.data(), rows, scale, d_logits);
}

Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits) {
  const std::array<const SplitRows*, 3> splits{&data.train, &data.validation, &data.test};
  std::array<double, 7> sums{};  // part and whole of each split, then the validation loss
  const bool is_ratio = training.metric == Metric::kAccuracy || training.metric == Metric::kF1Micro;
  if (is_ratio) {
    for (std::size_t s = 0; s < splits.size(); ++s) {
      const auto count = training.metric == Metric::kAccuracy ? count_accuracy : count_f1_micro;
      const Counts counts = count(ctx, data, logits, splits[s]->rows);
      sums[2 * s] = counts.part;
      sums[2 * s + 1] = counts.whole;
    }
  }
  sums[6] = loss_of(ctx, data.labels(), training.loss, logits, data.validation.rows, 0, {});
  comm.all_reduce(Traffic::kEvaluation, std::span<double>(sums));

  std::array<std::optional<double>, 3> metric;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    if (training.metric == Metric::kRocAuc)
      metric[s] = roc_auc(comm, data, logits, splits[s]->rows);
    else if (training.metric == Metric::kF1Macro)
      metric[s] = f1_macro(ctx, comm, data, logits, splits[s]->rows);
    else if (sums[2 * s + 1] > 0)
      metric[s] = sums[2 * s] / sums[2 * s + 1];
    else if (splits[s]->total > 0)
      metric[s] = 0;  // F1 with nothing predicted and nothing to find
  }
  Evaluation result{metric[0], metric[1], metric[2], {}};
  if (data.validation.total > 0) result.validation_loss = sums[6] / data.validation.total;
  return result;
}

ConfusionMatrix confusion_of(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits) {
  ConfusionMatrix matrix;
  if (data.multi_label()) return matrix;
  matrix.classes = int(data.classes());
  matrix.counts.assign(std::size_t(matrix.classes) * std::size_t(matrix.classes), 0);
  count_confusions(ctx, logits, data.labels().classes.data(), data.test.rows, matrix.counts);
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(matrix.counts));
  return matrix;
}

}  // namespace atl
