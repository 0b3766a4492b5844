#include "train/labels.h"

namespace atl {

Labels read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                   std::span<const VertexId> vertices) {
  Labels labels;
  if (job.task == Task::kLinkPrediction) {
    labels.classes.assign(vertices.size(), -1);
    return labels;
  }
  if (job.training.loss != Loss::kBinaryCrossEntropy) {
    labels.classes.assign(vertices.size(), -1);
    if (!use.known) return labels;
    for (std::size_t row = 0; row < vertices.size(); ++row)
      labels.classes[row] = dataset.labels()[std::size_t(vertices[row])];
    return labels;
  }
  labels.columns = use.classes;
  if (!use.known) return labels;
  labels.targets.reserve(vertices.size() * std::size_t(labels.columns));
  for (const VertexId v : vertices) {
    const std::uint8_t* row = dataset.targets().row(v);
    labels.targets.insert(labels.targets.end(), row, row + labels.columns);
  }
  return labels;
}

LabelView on_device(DeviceCopies& copies, const LabelView& host, Index rows) {
  LabelView view = host;
  if (host.classes != nullptr) view.classes = copies.of(std::span(host.classes, std::size_t(rows))).data();
  const std::span targets(host.targets.data, std::size_t(host.targets.rows * host.targets.cols));
  view.targets.data = copies.of(targets).data();
  return view;
}

VertexMarks training_marks(const Dataset& dataset, const Job& job) {
  if (job.task == Task::kLinkPrediction) return VertexMarks::all(dataset.meta().vertices);
  return {dataset.split(job.dataset.split), job.dataset.split_column, std::uint8_t(Split::kTrain)};
}

VertexMarks loss_marks(const Dataset& dataset, const Job& job) {
  const VertexMarks marks = training_marks(dataset, job);
  if (job.task == Task::kLinkPrediction || job.training.loss == Loss::kBinaryCrossEntropy) return marks;
  return marks.with_label(dataset.labels());
}

}  // namespace atl
