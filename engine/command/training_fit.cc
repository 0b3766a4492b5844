// Checks what a manifest and its data set must agree on before training, and what makes training doubtful.
#include "command/job_data.h"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Throws refusals that begin with the line of the field.
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

/// Advice on adding a file, which works for every format of import.
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

/// Refuses input dropout for a model that aggregates first, which would drop out sums instead of features.
void check_input_dropout(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const InputDropoutSpec& dropout = job.training.input_dropout;
  const bool after = dropout.rate > 0 && dropout.position == DropoutPosition::kAfterAggregation;
  if (after && meta.feature_form == FeatureForm::kSparse && !find_model(job.model.kind)->aggregates_first)
    refuse("training.inputDropout.position",
           "afterAggregation needs dense features, {} stores them sparse (use beforeAggregation)", meta.name);
}

/// Refuses slices without a vertex: each slice of each part needs one.
void check_slices(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const std::string field = job.strategy.row->division(job).slices_field;
  if (field.empty()) return;
  const PartitionOptions options = partition_options(job, job.placement.ranks);
  if (Index(options.slices) * options.parts <= meta.vertices) return;
  const std::string option = field.substr(field.rfind('.') + 1);
  refuse(field.c_str(), "{} from each of {}{}, and {} has {} vertices (use {} or fewer)", options.slices,
         counted_text(options.parts, "part"), job.strategy.options.integer(option) == 0 ? ", by default" : "",
         meta.name, meta.vertices, std::max<Index>(1, meta.vertices / options.parts));
}

/// Refuses pieces of the features without a column: each piece needs one.
void check_pieces(const Refuse& refuse, const Job& job, const DatasetMeta& meta) {
  const JobDivision division = job.strategy.row->division(job);
  if (Index(division.pieces) <= meta.features) return;
  refuse(
      division.pieces_field,
      "columns are cut into {} pieces, and {} has {}: {} would be empty (use fewer ranks or servers, or more copies)",
      division.pieces, meta.name, counted_text(int(meta.features), "feature"),
      Index(division.pieces) - meta.features);
}

void check_training_vertices(const Refuse& refuse, const DatasetSpec& spec, const Dataset& dataset) {
  if (has_labelled(spec, dataset, Split::kTrain)) return;
  refuse("dataset.split",
         "split '{}' column {} of {} has no labelled training vertex (choose another split, or label some)",
         spec.split, spec.split_column, dataset.meta().name);
}

}  // namespace

bool has_labelled(const DatasetSpec& spec, const Dataset& dataset, Split part) {
  const View<const std::uint8_t> split = dataset.split(spec.split);
  const std::span<const std::int32_t> labels = dataset.labels();
  for (Index v = 0; v < split.rows; ++v) {
    const bool labelled = labels.empty() || labels[std::size_t(v)] >= 0;
    if (labelled && split.at(v, spec.split_column) == std::uint8_t(part)) return true;
  }
  return false;
}

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

// Checks what a job's sampler and its data set must agree on: how many clusters the graph has, and how much
// of it a step draws.

namespace {

constexpr Index kRowsOfACluster = 16;  // in smaller clusters a row has few of its neighbours

std::string option_path(const Job& job, const std::string& option) {
  return "strategy." + job.strategy.row->kind + "." + option;
}

/// Refuses more parts than vertices. A sampler's default number of parts may be too large for a small graph.
FieldRemark parts_fault(const Job& job, const DatasetMeta& meta) {
  const int parts = default_parts(job);
  if (parts <= meta.vertices) return {};
  return {
      "placement.partitioner.parts",
      fmt::format(
          "sampler {} divides a graph into {} parts by default, and {} has {} vertices (give {} or fewer)",
          sampler_of(job).name, parts, meta.name, meta.vertices, std::max<Index>(2, meta.vertices / 10))};
}

/// Refuses draws beyond the number that adds anything new, because draws with replacement take time all the
/// same.
FieldRemark draws_fault(const Job& job, const DatasetMeta& meta) {
  const SamplerInfo& sampler = sampler_of(job);
  if (sampler.most_draws == nullptr) return {};
  const std::int64_t most = sampler.most_draws(meta.vertices, meta.arcs);
  const bool by_layer = std::ranges::find(sampler.options, "layerSizes") != sampler.options.end();
  const std::int64_t given = by_layer ? std::ranges::max(layer_sizes(job)) : set_draws(job, meta.vertices);
  if (given <= most) return {};
  return {
      option_path(job, by_layer ? "layerSizes" : "draws"),
      fmt::format(
          "{} draws a step of sampler {} take very long and draw little that fewer don't: {} has {} vertices and {} arcs "
          "(use {} or fewer)",
          given, sampler.name, meta.name, meta.vertices, meta.arcs, most)};
}

/// Doubts a sampler that draws all vertices in every step.
FieldRemark draws_doubt(const Job& job, const DatasetMeta& meta) {
  const std::int64_t draws = set_draws(job, meta.vertices);
  if (sampler_of(job).name != "uniform" || draws <= meta.vertices) return {};
  return {option_path(job, "draws"),
          fmt::format("sampler uniform draws all {} vertices of {} in each step, for {} are no fewer (give a "
                      "smaller number to draw some)",
                      meta.vertices, meta.name, draws)};
}

/// Doubts a step that takes all clusters, because it takes the whole graph.
FieldRemark clusters_doubt(const Job& job, const DatasetMeta& meta) {
  if (sampler_of(job).parts == 0) return {};
  const int parts = partition_options(job, job.placement.ranks).parts;
  if (job.strategy.options.integer("merged") >= parts || parts == 1)
    return {
        option_path(job, "merged"),
        fmt::format(
            "every step merges all {} of {}: an epoch is one step of the whole graph, as under strategy graph (give "
            "more placement.partitioner.parts, or fewer clusters a step)",
            counted_text(parts, "cluster"), meta.name)};
  if (meta.vertices >= kRowsOfACluster * parts) return {};
  return {"placement.partitioner.parts",
          fmt::format(
              "{} clusters of {} have {} vertices each, and keep few neighbours together (give {} or fewer)",
              parts, meta.name, meta.vertices / parts, std::max<Index>(2, meta.vertices / kRowsOfACluster))};
}

}  // namespace

FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta) {
  if (!job.strategy.options.has("draws")) return {};
  FieldRemark fault = parts_fault(job, meta);
  return fault.text.empty() ? draws_fault(job, meta) : fault;
}

FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta) {
  if (!job.strategy.options.has("draws")) return {};
  FieldRemark doubt = clusters_doubt(job, meta);
  return doubt.text.empty() ? draws_doubt(job, meta) : doubt;
}

}  // namespace atl
