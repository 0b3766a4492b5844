// Warnings, before a run starts, about why it shouldn't be expected to learn much, or to show much, although
// it can be trained.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/text.h"
#include "command/job_data.h"
#include "model/model.h"
#include "telemetry/confusion.h"
#include "telemetry/link_metrics.h"

namespace atl {
namespace {

/// (classes) how many vertices each has.
std::vector<Index> class_sizes(const Dataset& dataset) {
  std::vector<Index> sizes(std::size_t(dataset.meta().classes), 0);
  for (const std::int32_t label : dataset.labels())
    if (label >= 0) ++sizes[std::size_t(label)];
  return sizes;
}

bool validates(const Job& job, const Dataset& dataset) {
  if (job.task == Task::kLinkPrediction)
    return dataset.meta().pairs.of[std::size_t(PairSet::kValidation)] > 0;
  return has_labelled(job.dataset, dataset, Split::kValidation);
}

/// Doubts a directed graph with symmetric normalisation, which uses a vertex's in-degree for its out-degree
/// too.
FieldRemark direction_doubt(const Job& job, const DatasetMeta& meta) {
  constexpr const char* kPath = "model.kind";
  const bool directed = !meta.symmetric && !job.dataset.symmetrise;
  if (!directed || graph_needs(job.model).normalisation != Normalisation::kSymmetric) return {kPath, ""};
  return {kPath,
          fmt::format("{} is made for undirected graphs, and {} is directed; set dataset.symmetrise: true "
                      "to add the reverse of every arc",
                      job.model.kind, meta.name)};
}

/// Doubts a metric that says little: if most labels are the same, a model that predicts only that label looks
/// good.
FieldRemark metric_doubt(const Job& job, const Dataset& dataset) {
  constexpr const char* kPath = "training.metric";
  const Metric metric = job.training.metric;
  if (job.task == Task::kLinkPrediction || dataset.meta().multi_label) return {kPath, ""};
  const std::vector<Index> sizes = class_sizes(dataset);
  const auto largest = std::ranges::max_element(sizes);
  const Index labelled = std::accumulate(sizes.begin(), sizes.end(), Index(0));
  if (*largest == labelled)
    return {
        "dataset.name",
        fmt::format(
            "all {} labelled vertices of {} are of class {}: there is nothing to learn, and every prediction is "
            "right; check the labels",
            count_text(labelled), dataset.meta().name, largest - sizes.begin())};
  const double share = double(*largest) / double(labelled);
  if (metric == Metric::kRocAuc || metric == Metric::kF1Macro || share < kLopsided) return {kPath, ""};
  return {
      kPath,
      fmt::format("{} of the labelled vertices of {} are of class {}, so that {} says little; {} says more",
                  percent_text(share), dataset.meta().name, largest - sizes.begin(), metric_name(metric),
                  sizes.size() == 2 ? "rocAuc or f1Macro" : "f1Macro")};
}

/// Doubts Hits@K with fewer than K negative pairs, among which there is no K-th best one.
FieldRemark hits_doubt(const Job& job, const DatasetMeta& meta) {
  constexpr const char* kPath = "linkPrediction.hitsAt";
  if (job.task != Task::kLinkPrediction || job.links.metric != LinkMetric::kHits) return {kPath, ""};
  const auto pairs = [&](PairSet set) { return meta.pairs.of[std::size_t(set)]; };
  const Index validation = pairs(PairSet::kValidationNegative), test = pairs(PairSet::kTestNegative);
  const Index fewest = validation == 0 ? test : test == 0 ? validation : std::min(validation, test);
  if (fewest == 0 || job.links.hits_at <= fewest) return {kPath, ""};
  return {
      kPath,
      fmt::format(
          "hits@{0} of {1} is always 100 %: {1} has {2} negative pairs of validation and {3} of test, and edges "
          "are to score above the {0}-th best of them; use {4} or less",
          job.links.hits_at, meta.name, validation, test, fewest)};
}

/// Whether some class has validation vertices that belong to it and others that don't. Only then does ROC-AUC
/// have a value.
bool tells_classes_apart(const DatasetSpec& spec, const Dataset& dataset) {
  const View<const std::uint8_t> split = dataset.split(spec.split), targets = dataset.targets();
  const std::span<const std::int32_t> labels = dataset.labels();
  const auto classes = std::size_t(dataset.meta().classes);
  std::vector<bool> some_are(classes, false), some_arent(classes, false);
  for (Index v = 0; v < split.rows; ++v) {
    if (split.at(v, spec.split_column) != std::uint8_t(Split::kValidation)) continue;
    if (!labels.empty() && labels[std::size_t(v)] < 0) continue;
    for (std::size_t c = 0; c < classes; ++c) {
      const bool is =
          labels.empty() ? targets.at(v, Index(c)) != 0 : labels[std::size_t(v)] == std::int32_t(c);
      (is ? some_are : some_arent)[c] = true;
    }
  }
  for (std::size_t c = 0; c < classes; ++c)
    if (some_are[c] && some_arent[c]) return true;
  return false;
}

/// Doubts ROC-AUC as the metric if the validation vertices have none: the last epoch then counts as the best,
/// unless losses are compared.
FieldRemark area_doubt(const Job& job, const Dataset& dataset) {
  constexpr const char* kPath = "training.metric";
  const TrainingSpec& training = job.training;
  const bool has_area = job.task != Task::kLinkPrediction && training.metric == Metric::kRocAuc;
  if (!has_area || !validates(job, dataset) || tells_classes_apart(job.dataset, dataset)) return {kPath, ""};
  const bool by_loss = training.early_stopping.metric == StopMetric::kValidationLoss;
  const bool several = dataset.meta().multi_label;
  return {kPath,
          fmt::format(
              "the validation vertices of {} {}{}{}; choose another split, or {}", dataset.meta().name,
              several ? "all have the same labels, and rocAuc needs vertices with a label and without"
                      : "are all of one class, and rocAuc needs both",
              by_loss ? ": no epoch has a validation rocAuc" : ", so that no epoch is better than another",
              !by_loss && training.early_stopping.patience > 0 ? ": training doesn't stop early" : "",
              several ? "f1Micro or f1Macro" : "accuracy, f1Micro or f1Macro")};
}

/// Doubts early stopping without validation vertices: a run then goes on to its last epoch, which counts as
/// the best.
FieldRemark stopping_doubt(const Job& job, const Dataset& dataset) {
  constexpr const char* kPath = "training.earlyStopping";
  if (job.training.early_stopping.patience == 0 || validates(job, dataset)) return {kPath, ""};
  return {
      kPath,
      fmt::format("{} has nothing to validate on, so that no epoch is better than another: training doesn't "
                  "stop early",
                  dataset.meta().name)};
}

/// Doubts a split in which some class has validation or test vertices, but no training vertex: a model learns
/// never to predict that class.
FieldRemark unlearnt_doubt(const Job& job, const Dataset& dataset) {
  constexpr const char* kPath = "dataset.split";
  const std::span<const std::int32_t> labels = dataset.labels();
  if (job.task == Task::kLinkPrediction || labels.empty()) return {kPath, ""};
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  const auto classes = std::size_t(dataset.meta().classes);
  std::vector<bool> trained(classes, false);
  std::vector<Index> measured(classes, 0);
  for (Index v = 0; v < split.rows; ++v) {
    const std::int32_t label = labels[std::size_t(v)];
    const auto part = Split(split.at(v, job.dataset.split_column));
    if (label < 0 || part == Split::kNone) continue;
    if (part == Split::kTrain)
      trained[std::size_t(label)] = true;
    else
      ++measured[std::size_t(label)];
  }
  std::vector<std::size_t> unlearnt;
  Index vertices = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (!trained[c] && measured[c] > 0) unlearnt.push_back(c), vertices += measured[c];
  if (unlearnt.empty()) return {kPath, ""};
  constexpr std::size_t kNamed = 5;
  const std::span named = std::span(unlearnt).first(std::min(unlearnt.size(), kNamed));
  return {kPath,
          fmt::format("no training vertex of {} is of class {}{}, and {} validation and test vertices are: a "
                      "model never learns to predict that; choose another split, or leave them out of it",
                      dataset.meta().name, joined(named, ", "), unlearnt.size() > kNamed ? ", …" : "",
                      count_text(vertices))};
}

}  // namespace

std::vector<std::string> training_doubts(const LoadedJob& loaded, const Dataset& dataset) {
  std::vector<std::string> doubts;
  for (const auto& [path, text] : {direction_doubt(loaded.job, dataset.meta()),
                                   metric_doubt(loaded.job, dataset), hits_doubt(loaded.job, dataset.meta()),
                                   sampler_doubt(loaded.job, dataset.meta()), area_doubt(loaded.job, dataset),
                                   stopping_doubt(loaded.job, dataset), unlearnt_doubt(loaded.job, dataset)})
    if (!text.empty()) doubts.push_back(fmt::format("{}: {}: {}", where_of(loaded.given, path), path, text));
  return doubts;
}

}  // namespace atl
