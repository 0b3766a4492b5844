#include "train/predict.h"

#include "comm/local_transport.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "train/results.h"
#include "train/safetensors.h"

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

void load_weights(const SafetensorsFile& file, Parameters& parameters) {
  for (const Parameters::Entry& e : parameters.entries()) {
    file.copy_to(e.spec.name, {e.spec.rows, e.spec.cols}, parameters.values().data() + e.offset);
  }
}

}  // namespace

Evaluation predict(const PredictOptions& o) {
  const SafetensorsFile file = SafetensorsFile::read(o.model / "model.safetensors");
  Job job = job_of(file);
  job.training.setting = Setting::kTransductive;  // inference is over the whole graph either way
  job.training.recompute = Recompute::kNone;
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
  data.train.total = double(data.train.rows.size());
  data.validation.total = double(data.validation.rows.size());
  data.test.total = double(data.test.rows.size());
  Trainer trainer(ctx, comm, job, data, double(dataset.meta().vertices));
  load_weights(file, trainer.parameters());
  const Evaluation evaluation = trainer.evaluate();

  std::filesystem::create_directories(o.output);
  write_predictions(comm, data, prepared, dataset, trainer, o.output);
  return evaluation;
}

}  // namespace atl
