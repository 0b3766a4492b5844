#include "train/evaluation.h"

#include <array>

#include "tensor/copies.h"
#include "train/f1_macro.h"
#include "train/roc_auc.h"

namespace atl {
namespace {

/// What is counted of each split in one visit of the logits, in the device's memory.
struct Counted {
  LabelCounts splits[3];
  double validation_loss = 0;
};

/// Counts whose ratio is the metric: accuracy = correct / rows; F1-micro = 2·tp / (2·tp + fp + fn), which is the same thing for one
/// label a vertex. Multi-label: a class is predicted where its logit is above 0.
struct Ratio {
  double part = 0, whole = 0;
};
Ratio ratio_of(const LabelCounts& counts, bool several_labels) {
  const double right = double(counts.right), wrong = double(counts.wrong);
  return several_labels ? Ratio{2 * right, 2 * right + wrong} : Ratio{right, right + wrong};
}

}  // namespace

void loss_of(Context& ctx, const LabelView& labels, Loss loss, ConstMatrixView logits,
             std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  if (loss == Loss::kBinaryCrossEntropy)
    return binary_cross_entropy(ctx, logits, labels.targets, rows, scale, d_logits, sum);
  cross_entropy(ctx, logits, labels.classes, rows, scale, d_logits, sum);
}

Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits) {
  const std::array<const SplitRows*, 3> splits{&data.train, &data.validation, &data.test};
  const LabelView& labels = data.label_view();
  // Several labels have no accuracy; F1-micro of one label is accuracy.
  const bool several = data.multi_label() && training.metric == Metric::kF1Micro;
  const bool is_ratio = training.metric == Metric::kAccuracy || training.metric == Metric::kF1Micro;
  Buffer<Counted> counted(ctx.device, 1);
  zero_sums(ctx, {&counted.data()->validation_loss, 1});
  for (std::size_t s = 0; s < splits.size() && is_ratio; ++s) {
    LabelCounts* const counts = &counted.data()->splits[s];
    if (several)
      count_labels(ctx, logits, labels.targets, splits[s]->placed, counts);
    else
      count_classes(ctx, logits, labels.classes, splits[s]->placed, counts);
  }
  loss_of(ctx, labels, training.loss, logits, data.validation.placed, 0, {},
          &counted.data()->validation_loss);
  const Counted counts = read(ctx, counted.data());
  std::array<double, 7> sums{};  // part and whole of each split, then the validation loss
  for (std::size_t s = 0; s < splits.size() && is_ratio; ++s) {
    const Ratio ratio = ratio_of(counts.splits[s], several);
    sums[2 * s] = ratio.part;
    sums[2 * s + 1] = ratio.whole;
  }
  sums[6] = counts.validation_loss;
  comm.all_reduce(Traffic::kEvaluation, std::span<double>(sums));

  std::array<std::optional<double>, 3> metric;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    if (training.metric == Metric::kRocAuc)
      metric[s] = roc_auc(ctx, comm, data, logits, splits[s]->rows);
    else if (training.metric == Metric::kF1Macro)
      metric[s] = f1_macro(ctx, comm, data, logits, splits[s]->placed);
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
  Buffer<std::int64_t> counts(ctx.device, data.classes() * data.classes());
  count_confusions(ctx, logits, data.label_view().classes, data.test.placed, counts.span());
  matrix.counts = read(ctx, std::span<const std::int64_t>(counts.span()));
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(matrix.counts));
  return matrix;
}

}  // namespace atl
