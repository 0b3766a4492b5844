#include "train/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "telemetry/confusion.h"
#include "tensor/copies.h"

namespace atl {
namespace {

/// Counts whose ratio is the metric: accuracy = correct / rows; F1-micro = 2·tp / (2·tp + fp + fn), which
/// equals accuracy for one label per vertex. Multi-label: a class is predicted where its logit is above 0.
struct Ratio {
  double part = 0, whole = 0;
};
Ratio ratio_of(const LabelCounts& counts, bool several_labels) {
  const double right = double(counts.right), wrong = double(counts.wrong);
  return several_labels ? Ratio{2 * right, 2 * right + wrong} : Ratio{right, right + wrong};
}

/// Counts this rank's `rows` into `counts` (classes). All arguments are in the device's memory.
void count_by_class_of(Context& ctx, const RankData& data, ConstMatrixView logits,
                       std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  const LabelView& labels = data.label_view();
  if (data.multi_label())
    count_by_label(ctx, logits, labels.targets, rows, counts);
  else
    count_by_class(ctx, logits, labels.classes, rows, counts);
}

/// Sums counts in the host's memory over all ranks, so that metrics are the same on any number of ranks.
/// Collective.
void sum_over_ranks(Communicator& comm, std::span<ClassCounts> counts) {
  std::vector<std::int64_t> sums;
  sums.reserve(3 * counts.size());
  for (const ClassCounts& c : counts) sums.insert(sums.end(), {c.hits, c.predicted, c.actual});
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(sums));
  for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = {sums[3 * c], sums[3 * c + 1], sums[3 * c + 2]};
}

}  // namespace

void loss_of(Context& ctx, const LabelView& labels, Loss loss, ConstMatrixView logits,
             std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  if (loss == Loss::kBinaryCrossEntropy)
    return binary_cross_entropy(ctx, logits, labels.targets, rows, scale, d_logits, sum);
  cross_entropy(ctx, logits, labels.classes, rows, scale, d_logits, sum);
}

Evaluation evaluate(Context& ctx, Communicator& comm, const RankData& data, const TrainingSpec& training,
                    ConstMatrixView logits, EvaluationBuffers& buffers) {
  const std::array<const SplitRows*, 3> splits{&data.train, &data.validation, &data.test};
  const LabelView& labels = data.label_view();
  // There is no accuracy for several labels; F1-micro of one label is accuracy.
  const bool several = data.multi_label() && training.metric == Metric::kF1Micro;
  const bool is_ratio = training.metric == Metric::kAccuracy || training.metric == Metric::kF1Micro;
  SplitCounts* const counted = buffers.counted.data();
  const Index by_class = training.metric == Metric::kF1Macro ? data.classes() : 0;
  buffers.by_class.resize(Index(splits.size()) * by_class);
  buffers.by_class_here.resize(splits.size() * std::size_t(by_class));
  const auto of_split = [&](auto all, std::size_t s) {
    return all.subspan(s * std::size_t(by_class), std::size_t(by_class));
  };
  zero_sums(ctx, {&counted->validation_loss, 1});
  for (std::size_t s = 0; s < splits.size() && by_class > 0; ++s)
    count_by_class_of(ctx, data, logits, splits[s]->placed, of_split(buffers.by_class.span(), s));
  for (std::size_t s = 0; s < splits.size() && is_ratio; ++s) {
    LabelCounts* const counts = &counted->splits[s];
    if (several)
      count_labels(ctx, logits, labels.targets, splits[s]->placed, counts);
    else
      count_classes(ctx, logits, labels.classes, splits[s]->placed, counts);
  }
  loss_of(ctx, labels, training.loss, logits, data.validation.placed, 0, {}, &counted->validation_loss);
  SplitCounts counts;
  const std::span<ClassCounts> by_class_here = buffers.by_class_here;
  if (by_class > 0)
    ctx.stream->download(by_class_here.data(), buffers.by_class.data(), by_class_here.size_bytes());
  read(ctx, counted, &counts, sizeof counts);  // the only wait of the host for the device
  std::array<double, 7> sums{};  // part and whole of each split's ratio, then the validation loss
  for (std::size_t s = 0; s < splits.size() && is_ratio; ++s) {
    const Ratio ratio = ratio_of(counts.splits[s], several);
    sums[2 * s] = ratio.part;
    sums[2 * s + 1] = ratio.whole;
  }
  sums[6] = counts.validation_loss;
  comm.all_reduce(Traffic::kEvaluation, std::span<double>(sums));
  if (by_class > 0) sum_over_ranks(comm, by_class_here);
  ConstMatrixView logits_here;
  if (training.metric == Metric::kRocAuc) logits_here = buffers.logits.of(ctx, logits);

  std::array<std::optional<double>, 3> metric;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    if (training.metric == Metric::kRocAuc)
      metric[s] = roc_auc(comm, data, logits_here, splits[s]->rows);
    else if (training.metric == Metric::kF1Macro)
      metric[s] = f1_macro(of_split(by_class_here, s));
    else if (sums[2 * s + 1] > 0)
      metric[s] = sums[2 * s] / sums[2 * s + 1];
    else if (splits[s]->total > 0)
      metric[s] = 0;  // nothing was predicted, and nothing was to be found
  }
  Evaluation result{metric[0], metric[1], metric[2], {}};
  if (data.validation.total > 0) result.validation_loss = sums[6] / data.validation.total;
  return result;
}

ConfusionMatrix confusion_of(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits) {
  ConfusionMatrix matrix;
  if (data.multi_label() || data.classes() > kMostConfused) return matrix;
  matrix.classes = int(data.classes());
  Buffer<std::int64_t> counts(ctx.device, data.classes() * data.classes());
  count_confusions(ctx, logits, data.label_view().classes, data.test.placed, counts.span());
  matrix.counts = read(ctx, std::span<const std::int64_t>(counts.span()));
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(matrix.counts));
  return matrix;
}

namespace {

struct Scored {
  float score;
  std::uint32_t positive;
};

/// All ranks' pairs for one class, in the order of ranks, on rank 0; nothing elsewhere.
std::vector<std::pair<float, bool>> gather(Communicator& comm, const std::vector<Scored>& mine) {
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  const auto bytes = std::as_bytes(std::span(mine));
  to[0].assign(bytes.begin(), bytes.end());
  std::vector<std::pair<float, bool>> all;
  for (const auto& blob : comm.all_to_all(Traffic::kEvaluation, to)) {
    for (std::size_t at = 0; at + sizeof(Scored) <= blob.size(); at += sizeof(Scored)) {
      Scored s;
      std::memcpy(&s, blob.data() + at, sizeof s);
      all.emplace_back(s.score, s.positive != 0);
    }
  }
  return all;
}

/// The scores of all labelled rows for class c.
std::vector<Scored> scores_of(const RankData& data, ConstMatrixView logits, std::span<const VertexId> rows,
                              Index c) {
  const Labels& labels = data.labels();
  std::vector<Scored> scored;
  scored.reserve(rows.size());
  for (const VertexId r : rows) {
    if (data.multi_label())
      scored.push_back({float(logits.at(r, c)), labels.target_rows().at(r, c)});
    else
      scored.push_back(
          {float(logits.at(r, 1) - logits.at(r, 0)), std::uint32_t(labels.classes[std::size_t(r)])});
  }
  return scored;
}

/// Replaces scores that are no numbers by the worst score for their label, as link_metrics() does.
void place_nan(std::vector<std::pair<float, bool>>& scored) {
  constexpr float kMost = std::numeric_limits<float>::infinity();
  for (auto& [score, positive] : scored)
    if (std::isnan(score)) score = positive ? -kMost : kMost;
}

}  // namespace

/// Computes the area from Σ of the positives' ranks (Mann-Whitney). Equal scores have their mean rank.
std::optional<double> roc_auc(std::vector<std::pair<float, bool>> scored) {
  place_nan(scored);
  std::sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  double positives = 0, rank_sum = 0;
  for (std::size_t i = 0; i < scored.size();) {
    std::size_t j = i;
    double here = 0;
    while (j < scored.size() && scored[j].first == scored[i].first) here += scored[j++].second;
    rank_sum += here * (double(i + j + 1) / 2);  // the mean of ranks i + 1 … j
    positives += here;
    i = j;
  }
  const double negatives = double(scored.size()) - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

std::optional<double> roc_auc(Communicator& comm, const RankData& data, ConstMatrixView logits,
                              std::span<const VertexId> rows) {
  if (!data.multi_label() && data.classes() != 2) {
    fail(
        "training.metric: rocAuc needs two classes or several labels per vertex, but the data set has {} "
        "classes (use accuracy, f1Micro or f1Macro)",
        data.classes());
  }
  std::array<double, 2> areas{0, 0};  // Σ over classes, and the number of classes
  for (Index c = 0; c < (data.multi_label() ? data.classes() : 1); ++c) {
    if (const auto area = roc_auc(gather(comm, scores_of(data, logits, rows, c)))) {
      areas[0] += *area;
      areas[1] += 1;
    }
  }
  comm.broadcast(Traffic::kEvaluation, 0, std::as_writable_bytes(std::span(areas)));
  if (areas[1] == 0) return std::nullopt;
  return areas[0] / areas[1];
}

}  // namespace atl
