// What a manifest and its data set must agree on before training, and what makes training doubtful.
#include "command/job_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "job/models.h"
#include "job/strategies.h"
#include "model/model.h"
#include "telemetry/confusion.h"
#include "telemetry/link_metrics.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Refusals that begin with the field's line.
class Refuse {
 public:
  explicit Refuse(const LoadedJob& loaded) : loaded_(loaded) {}
  template <class... Args>
  [[noreturn]] void operator()(const char* path, fmt::format_string<Args...> text, Args&&... args) const {
    fail("{}: {}: {}", where_of(loaded_.given, path), path, fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  const LoadedJob& loaded_;
};

/// A way to add a file that works for every format of import.
std::string add_file(const char* file) {
  return fmt::format("write it out with `atoll dataset export`, add {}, and import that with --format npy",
                     file);
}

void check_features(const Refuse& refuse, const DatasetMeta& meta, bool links) {
  if (meta.features > 0) return;
  refuse(
      "dataset.name",
      "{} has no features, and training needs them: {}; or import it again with --features one-hot or random:64{}",
      meta.name, add_file("features.npy (one row per vertex)"),
      links ? ", and --edge-split, which task linkPrediction needs" : "");
}

void check_edges(const Refuse& refuse, const DatasetMeta& meta) {
  if (meta.pairs.any()) return;
  refuse("dataset.name",
         "{} has no edge split, and task linkPrediction needs one: import it again with --edge-split "
         "random:85/5/10, or with --edge-split given from a folder with edge_split.npz",
         meta.name);
}

void check_labels(const Refuse& refuse, const DatasetMeta& meta) {
  if (meta.classes == 0)
    refuse("dataset.name", "{} has no {}, and training needs them: {}", meta.name,
           meta.checksums.contains("labels.npy") ? "labels but −1" : "labels",
           add_file("labels.npy (the class of each vertex, −1 where it isn't known)"));
}

void check_split(const Refuse& refuse, const DatasetSpec& spec, const DatasetMeta& meta) {
  if (meta.splits.empty())
    refuse("dataset.name",
           "{} has no split, and training needs one: import it again with --split random:60/20/20",
           meta.name);
  const auto split = meta.splits.find(spec.split);
  if (split == meta.splits.end()) {
    std::vector<std::string> known;
    for (const auto& [name, columns] : meta.splits) known.push_back(name);
    refuse("dataset.split", "{} has no split '{}'{}", meta.name, spec.split, suggestion(spec.split, known));
  }
  if (spec.split_column >= split->second)
    refuse("dataset.splitColumn", "{} is not allowed: split {} of {} has {} columns (use 0 … {})",
           spec.split_column, spec.split, meta.name, split->second, split->second - 1);
}

void check_loss_and_metric(const Refuse& refuse, const TrainingSpec& training, const DatasetMeta& meta) {
  if (meta.multi_label && training.loss == Loss::kCrossEntropy)
    refuse(
        "training.loss",
        "crossEntropy needs one class per vertex, {} has several labels (use binaryCrossEntropy, and metric "
        "f1Micro, f1Macro or rocAuc)",
        meta.name);
  if (!meta.multi_label && training.loss == Loss::kBinaryCrossEntropy)
    refuse("training.loss",
           "binaryCrossEntropy needs several labels per vertex, {} has one class (use crossEntropy)",
           meta.name);
  if (training.metric == Metric::kRocAuc && !meta.multi_label && meta.classes != 2)
    refuse(
        "training.metric",
        "rocAuc needs two classes or several labels per vertex, {} has {} classes (use accuracy, f1Micro or f1Macro)",
        meta.name, meta.classes);
}

/// A model that aggregates first would drop out sums instead of features.
void check_input_dropout(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const InputDropoutSpec& dropout = job.training.input_dropout;
  const bool after = dropout.rate > 0 && dropout.position == DropoutPosition::kAfterAggregation;
  if (after && meta.feature_form == FeatureForm::kSparse && !find_model(job.model.kind)->aggregates_first)
    refuse("training.inputDropout.position",
           "afterAggregation needs dense features, {} stores them sparse (use beforeAggregation)", meta.name);
}

/// Each slice of each part needs a vertex.
void check_slices(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const std::string field = find_strategy(job.strategy.kind)->division(job).slices_field;
  if (field.empty()) return;
  const PartitionOptions options = partition_options(job, job.placement.ranks);
  if (Index(options.slices) * options.parts <= meta.vertices) return;
  const std::string option = field.substr(field.rfind('.') + 1);
  refuse(field.c_str(), "{} from each of {}{}, and {} has {} vertices (use {} or fewer)", options.slices,
         counted_text(options.parts, "part"), job.strategy.options.integer(option) == 0 ? ", by default" : "",
         meta.name, meta.vertices, std::max<Index>(1, meta.vertices / options.parts));
}

/// Each piece of the features needs a column.
void check_pieces(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const JobDivision division = find_strategy(job.strategy.kind)->division(job);
  if (Index(division.pieces) <= meta.features) return;
  refuse(
      division.pieces_field,
      "columns are cut into {} pieces, and {} has {}: {} would be empty (use fewer ranks or servers, or more copies)",
      division.pieces, meta.name, counted_text(int(meta.features), "feature"),
      Index(division.pieces) - meta.features);
}

/// Whether the split has a vertex in this part, and with a label: others neither train nor measure.
bool has_labelled(const DatasetSpec& spec, const Dataset& dataset, Split part) {
  const View<const std::uint8_t> split = dataset.split(spec.split);
  const std::span<const std::int32_t> labels = dataset.labels();
  for (Index v = 0; v < split.rows; ++v) {
    const bool labelled = labels.empty() || labels[std::size_t(v)] >= 0;
    if (labelled && split.at(v, spec.split_column) == std::uint8_t(part)) return true;
  }
  return false;
}

void check_training_vertices(const Refuse& refuse, const DatasetSpec& spec, const Dataset& dataset) {
  if (has_labelled(spec, dataset, Split::kTrain)) return;
  refuse("dataset.split",
         "split '{}' column {} of {} has no labelled training vertex (choose another split, or label some)",
         spec.split, spec.split_column, dataset.meta().name);
}

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

/// The symmetric normalisation takes a vertex's in-degree for its out-degree, too.
FieldRemark direction_doubt(const Job& job, const DatasetMeta& meta) {
  constexpr const char* kPath = "model.kind";
  const bool directed = !meta.symmetric && !job.dataset.symmetrise;
  if (!directed || graph_needs(job.model).normalisation != Normalisation::kSymmetric) return {kPath, ""};
  return {kPath,
          fmt::format("{} is made for undirected graphs, and {} is directed; set dataset.symmetrise: true "
                      "to add the reverse of every arc",
                      job.model.kind, meta.name)};
}

/// If most labels are the same, a model that predicts only that label looks good.
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

/// With fewer than K negative pairs there is no K-th best one.
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

/// Whether a class has validation vertices that are of it and others that aren't: only then has ROC-AUC a
/// value.
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

/// Without a ROC-AUC of the validation vertices, the last epoch counts as the best, unless losses are
/// compared.
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

/// Without validation vertices, a run goes on to its last epoch, which counts as the best.
FieldRemark stopping_doubt(const Job& job, const Dataset& dataset) {
  constexpr const char* kPath = "training.earlyStopping";
  if (job.training.early_stopping.patience == 0 || validates(job, dataset)) return {kPath, ""};
  return {
      kPath,
      fmt::format("{} has nothing to validate on, so that no epoch is better than another: training doesn't "
                  "stop early",
                  dataset.meta().name)};
}

}  // namespace

void check_trainable(const LoadedJob& loaded, const Dataset& dataset) {
  const Job& job = loaded.job;
  const DatasetMeta& meta = dataset.meta();
  const Refuse refuse(loaded);
  const bool links = job.task == Task::kLinkPrediction;
  check_features(refuse, meta, links);
  if (links) check_edges(refuse, meta);
  if (!links) check_labels(refuse, meta), check_split(refuse, job.dataset, meta);
  if (job.placement.ranks > meta.vertices)
    refuse("placement.ranks", "{} ranks for {} vertices (use at most one rank per vertex)",
           job.placement.ranks, meta.vertices);
  check_slices(refuse, job, meta);
  check_pieces(refuse, job, meta);
  if (const auto [path, text] = sampler_fault(job, meta); !text.empty()) refuse(path.c_str(), "{}", text);
  check_input_dropout(refuse, job, meta);
  if (links) return;
  check_loss_and_metric(refuse, job.training, meta);
  check_training_vertices(refuse, job.dataset, dataset);
}

std::vector<std::string> training_doubts(const LoadedJob& loaded, const Dataset& dataset) {
  std::vector<std::string> doubts;
  for (const auto& [path, text] :
       {direction_doubt(loaded.job, dataset.meta()), metric_doubt(loaded.job, dataset),
        hits_doubt(loaded.job, dataset.meta()), sampler_doubt(loaded.job, dataset.meta()),
        area_doubt(loaded.job, dataset), stopping_doubt(loaded.job, dataset)})
    if (!text.empty()) doubts.push_back(fmt::format("{}: {}: {}", where_of(loaded.given, path), path, text));
  return doubts;
}

}  // namespace atl
