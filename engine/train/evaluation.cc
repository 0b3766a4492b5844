#include "train/evaluation.h"

#include <algorithm>
#include <array>

#include "train/roc_auc.h"

namespace atl {
namespace {

Index argmax(ConstMatrixView logits, Index row) {
  const Real* x = logits.row(row);
  return Index(std::max_element(x, x + logits.cols) - x);
}

/// Counts whose ratio is the metric: accuracy = correct / rows; F1-micro = 2·tp / (2·tp + fp + fn).
struct Counts {
  double part = 0, whole = 0;
};

Counts count_accuracy(const RankData& data, ConstMatrixView logits, std::span<const VertexId> rows) {
  Counts counts;
  for (const VertexId r : rows) counts.part += argmax(logits, r) == data.labels().classes[std::size_t(r)];
  counts.whole = double(rows.size());
  return counts;
}

/// Multi-label: a class is predicted where its logit is above 0 (training-systems.md, PipeGCN).
Counts count_f1_micro(const RankData& data, ConstMatrixView logits, std::span<const VertexId> rows) {
  if (!data.multi_label())
    return count_accuracy(data, logits, rows);  // the same thing for one label a vertex
  double true_positive = 0, wrong = 0;
  const View<const std::uint8_t> targets = data.labels().target_rows();
  for (const VertexId r : rows) {
    for (Index c = 0; c < logits.cols; ++c) {
      const bool predicted = logits.at(r, c) > 0, actual = targets.at(r, c) != 0;
      true_positive += predicted && actual;
      wrong += predicted != actual;
    }
  }
  return {2 * true_positive, 2 * true_positive + wrong};
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
  if (training.metric != Metric::kRocAuc) {
    for (std::size_t s = 0; s < splits.size(); ++s) {
      const auto count = training.metric == Metric::kAccuracy ? count_accuracy : count_f1_micro;
      const Counts counts = count(data, logits, splits[s]->rows);
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
    else if (sums[2 * s + 1] > 0)
      metric[s] = sums[2 * s] / sums[2 * s + 1];
    else if (splits[s]->total > 0)
      metric[s] = 0;  // F1 with nothing predicted and nothing to find
  }
  Evaluation result{metric[0], metric[1], metric[2], {}};
  if (data.validation.total > 0) result.validation_loss = sums[6] / data.validation.total;
  return result;
}

ConfusionMatrix confusion_of(Communicator& comm, const RankData& data, ConstMatrixView logits) {
  ConfusionMatrix matrix;
  if (data.multi_label()) return matrix;
  matrix.classes = int(data.classes());
  matrix.counts.assign(std::size_t(matrix.classes) * std::size_t(matrix.classes), 0);
  for (const VertexId r : data.test.rows) {
    const auto label = std::size_t(data.labels().classes[std::size_t(r)]);
    ++matrix.counts[label * std::size_t(matrix.classes) + std::size_t(argmax(logits, r))];
  }
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(matrix.counts));
  return matrix;
}

}  // namespace atl
