// Predictions of a trained model on a data set: its own, or another one with the same features.
#include "train/predictions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/atomic_file.h"
#include "base/text.h"
#include "comm/transports.h"
#include "dataset/format/npy_writer.h"
#include "job/load.h"
#include "job/samplers.h"
#include "partition/prepared_graph.h"
#include "telemetry/link_metrics.h"
#include "train/checkpoint/run_state.h"
#include "train/links/link_task.h"
#include "train/results.h"

namespace atl {
namespace {

std::filesystem::path model_of(const std::filesystem::path& run) {
  const std::filesystem::path model = run / "model.safetensors";
  if (!std::filesystem::exists(model)) {
    if (std::filesystem::exists(run / "job.yaml"))
      fail(
          "{0}: has no model.safetensors yet: its run hasn't come to its end (go on with `atoll run -f {0}/job.yaml --output {0}`)",
          run.string());
    fail("{}: is no run: there is no model.safetensors (use the output folder of `atoll run`)", run.string());
  }
  return model;
}

Job job_of(const SafetensorsFile& file) {
  const auto text = file.metadata().find("atoll.job");
  if (text == file.metadata().end()) {
    fail("{}: has no manifest in its metadata (atoll.job); use a model.safetensors that `atoll run` wrote",
         file.path().string());
  }
  return parse_job(text->second, file.path().string()).job;
}

/// The form in which a model that was trained on packed, or on dense, features reads those of this data set.
FeatureForm form_of(const TrainedOn& trained, const DatasetMeta& meta) {
  if (!trained.packed) return FeatureForm::kDense;
  return meta.feature_form == FeatureForm::kDense ? FeatureForm::kSparse : meta.feature_form;
}

/// A class without a name is called by its number.
std::string name_of(std::span<const std::string> names, std::size_t c) {
  return c < names.size() ? names[c] : std::to_string(c);
}

/// The first of the data's classes that has another name in the model. Names may differ, because each data
/// set numbers the texts that occur in it.
std::optional<std::size_t> named_otherwise(std::span<const std::string> model, const DatasetMeta& data) {
  for (std::size_t c = 0; c < std::size_t(data.classes); ++c)
    if (name_of(model, c) != name_of(data.class_names, c)) return c;
  return {};
}

/// Labels are read if they are the model's. If they aren't, none is read, and a line in `warnings` says why
/// predictions aren't measured. `names`: the model's names of its classes.
DataUse data_use(const Job& job, const TrainedOn& trained, std::span<const std::string> names,
                 const DatasetMeta& meta, std::vector<std::string>& warnings) {
  if (job.task == Task::kLinkPrediction)
    return {trained.classes, form_of(trained, meta), meta.pairs.any(), true, false};
  const bool several = job.training.loss == Loss::kBinaryCrossEntropy;
  const auto split = meta.splits.find(job.dataset.split);
  DataUse use{trained.classes, form_of(trained, meta), meta.classes > 0,
              split != meta.splits.end() && job.dataset.split_column < split->second};
  use.trains = false;
  if (!use.known) return use;
  use.known = meta.multi_label == several &&
              (several ? meta.classes == trained.classes : meta.classes <= trained.classes);
  if (!use.known)
    warnings.push_back(fmt::format(
        "{}: its labels aren't the model's: {} classes, {} per vertex, but the model has {}, {} per vertex; there are no metrics",
        meta.name, meta.classes, meta.multi_label ? "several" : "one", trained.classes,
        several ? "several" : "one"));
  const auto other = named_otherwise(names, meta);
  if (!use.known || !other) return use;
  use.known = false;
  warnings.push_back(fmt::format(
      "{}: its class {} is {}, and the model's is {}: there are no metrics (import labels that are the model's numbers{})",
      meta.name, *other, in_quotes(name_of(meta.class_names, *other)), in_quotes(name_of(names, *other)),
      names.empty() ? "" : ", with the model's names as class_names in meta.json"));
  return use;
}

/// Computes the edge split's metrics, where there is one, and the probabilities of the pairs that were asked
/// for.
void score_links(Context& ctx, Communicator& comm, const Job& job, const RankData& data, const Model& model,
                 const WeightVersion& weights, ConstMatrixView embeddings, std::span<const VertexPair> asked,
                 const PredictOptions& o, Predicted& predicted) {
  LinkTask task(ctx, comm, job, data, model);
  predicted.metrics = task.evaluate(embeddings, weights);
  predicted.links = task.test();
  if (asked.empty()) return;
  StepPairs pairs;
  for (const auto& [source, destination] : asked)
    pairs.add(data.links()->graph().row_of(source), data.links()->graph().row_of(destination));
  std::vector<Real> scores;
  task.score(embeddings, weights, pairs, pairs.size(), scores);
  std::vector<float> chances;
  for (const Real score : scores) chances.push_back(float(1 / (1 + std::exp(-double(score)))));
  AtomicFile file(o.output / "pair_scores.npy");
  file.write(npy_header(Dtype::kFloat32, std::vector<Index>{Index(chances.size())}));
  file.write(chances.data(), chances.size() * sizeof(float));
  file.commit();
}

/// A warning where some of the model's outputs aren't finite, as happens where features are far larger than
/// those that it learnt from; "": all are finite.
std::string not_finite(ConstMatrixView out, std::span<const VertexId> vertices, const Dataset& dataset) {
  Index rows = 0, first = -1;
  for (Index row = 0; row < out.rows; ++row) {
    if (std::all_of(out.row(row), out.row(row) + out.cols, [](Real x) { return std::isfinite(x); })) continue;
    if (rows++ == 0) first = vertices[std::size_t(row)];
  }
  if (rows == 0) return "";
  const auto ids = dataset.original_ids();
  return fmt::format(
      "{}: what the model computes isn't finite for {} of {} vertices, the first of them {}: their predictions mean nothing "
      "(compare the features with those of the training data)",
      dataset.meta().name, count_text(rows), count_text(out.rows),
      ids.empty() ? std::int64_t(first) : ids[std::size_t(first)]);
}

/// The whole graph as one part. The data set may have fewer vertices than the parts of the run have slices.
PartitionOptions one_part(const Job& job, const Dataset& dataset) {
  PartitionOptions options = partition_options(job, 1);
  options.slices = int(std::clamp<Index>(dataset.meta().vertices, 1, options.slices));
  return options;
}

}  // namespace

Predicted predict(const PredictOptions& o) {
  const SafetensorsFile file = SafetensorsFile::read(model_of(o.model));
  Job job = job_of(file);
  if (!o.pairs.empty() && job.task != Task::kLinkPrediction)
    fail("--pairs: the model of {} predicts classes of vertices; use one of task linkPrediction",
         o.model.string());
  job.placement.ranks = 1;
  job.placement.partitioner.parts = 1;
  job.training.setting = Setting::kTransductive;  // inference is over the whole graph anyway
  const TrainedOn trained = read_trained_on(file);
  const Dataset dataset = Dataset::open(o.dataset, o.prepared);
  const std::vector<VertexPair> asked =
      o.pairs.empty() ? std::vector<VertexPair>() : read_pair_file(o.pairs, dataset);
  Predicted predicted;
  predicted.metric = metric_title(reported_metric(job));
  predicted.warnings = differences(trained, trained_on(dataset.meta(), job));
  const std::vector<std::string> names = class_names_of(file.metadata());
  const DataUse use = data_use(job, trained, names, dataset.meta(), predicted.warnings);
  predicted.by_split = use.by_split;
  const PreparedGraph prepared =
      PreparedGraph::make(dataset, one_part(job, dataset), graph_transforms(job),
                          use.by_split ? training_marks(dataset, job) : VertexMarks());

  Communicator comm(std::move(make_local_group(1).front()));
  ThreadPool pool(o.threads);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  RankData data(job, dataset, prepared, 0, {}, use);
  data.count(comm);
  data.place(ctx);
  const Model model = job_model(job, data.features(), data.classes());
  Parameters parameters(model.parameters(), job.training.seed);
  read_held_rows(file, parameters, parameters.values().data(), "", false);
  std::filesystem::create_directories(o.output);
  move_sums(job, o.output.string());  // the run's folder may be on another machine
  const auto schedule =
      make_schedule({ctx, comm, job, model, parameters, data.held(), data.vertices(), true});
  if (model.constant_prefix() > 0) data.release_features();
  const ConstMatrixView logits =
      write_predictions(ctx, comm, job, data, prepared, dataset, *schedule, o.output, o.probabilities);
  if (const std::string line = not_finite(logits, data.owned_ids(), dataset); !line.empty())
    predicted.warnings.push_back(line);
  if (data.links() != nullptr) {
    score_links(ctx, comm, job, data, model, parameters.present(), logits, asked, o, predicted);
    return predicted;
  }
  write_predicted_labels(o.output, names);
  EvaluationBuffers buffers(ctx.device);
  if (use.known) predicted.metrics = evaluate(ctx, comm, data, job.training, logits, buffers);
  return predicted;
}

}  // namespace atl
