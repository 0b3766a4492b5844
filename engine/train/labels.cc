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

std::vector<std::uint8_t> training_marks(const Dataset& dataset, const Job& job) {
  if (job.task == Task::kLinkPrediction)
    return std::vector<std::uint8_t>(std::size_t(dataset.meta().vertices), 1);
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  std::vector<std::uint8_t> marks(std::size_t(split.rows));
  for (Index v = 0; v < split.rows; ++v) {
    marks[std::size_t(v)] = split.at(v, job.dataset.split_column) == std::uint8_t(Split::kTrain);
  }
  return marks;
}

std::vector<std::uint8_t> loss_marks(const Dataset& dataset, const Job& job) {
  std::vector<std::uint8_t> marks = training_marks(dataset, job);
  if (job.task == Task::kLinkPrediction || job.training.loss == Loss::kBinaryCrossEntropy) return marks;
  for (std::size_t v = 0; v < marks.size(); ++v)
    if (dataset.labels()[v] < 0) marks[v] = 0;
  return marks;
}

}  // namespace atl
