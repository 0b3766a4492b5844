#include "train/predict.h"

#include "comm/local_transport.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "train/results.h"
#include "train/whole_tensors.h"

namespace atl {
namespace {

Job job_of(const SafetensorsFile& file) {
  const auto text = file.metadata().find("atoll.job");
  if (text == file.metadata().end()) {
    fail(
        "{}: no manifest in its metadata (atoll.job); predictions need the model.safetensors that `atoll run` wrote",
        file.path().string());
  }
  return parse_job(text->second, file.path().string()).job;
}

}  // namespace

Evaluation predict(const PredictOptions& o) {
  const SafetensorsFile file = SafetensorsFile::read(o.model / "model.safetensors");
  Job job = job_of(file);
  job.training.setting = Setting::kTransductive;  // inference is over the whole graph either way
  const Dataset dataset = Dataset::open(o.dataset);
  if (dataset.meta().multi_label != (job.training.loss == Loss::kBinaryCrossEntropy)) {
    fail(
        "{}: the model predicts {} per vertex, {} has {}; predict on a data set like the one it was trained on",
        o.model.string(), dataset.meta().multi_label ? "one class" : "several labels", o.dataset.string(),
        dataset.meta().multi_label ? "several labels" : "one class");
  }
  const auto marks = training_marks(dataset, job);
  const PreparedGraph prepared =
      PreparedGraph::make(dataset, partition_options(job, 1), graph_transforms(job), marks);

  Communicator comm(std::move(make_local_group(1).front()));
  ThreadPool pool(o.threads);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  RankData data(job, dataset, prepared, 0);
  data.count(comm);
  const Model model = job_model(job, dataset.meta().features, data.classes(), data.part().features.packed());
  Parameters parameters(model.parameters(), job.training.seed);
  read_held_rows(file, parameters, parameters.values().data(), "", false);
  const auto schedule =
      make_schedule({ctx, comm, job, model, parameters, data.part(), data.vertices(), true});
  if (model.constant_prefix() > 0) data.release_features();
  std::filesystem::create_directories(o.output);
  const ConstMatrixView logits = write_predictions(comm, data, prepared, dataset, *schedule, o.output);
  return evaluate(ctx, comm, data, job.training, logits);
}

}  // namespace atl
