// The labels of a DatasetWriter: one class a vertex, or several.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "dataset/format/npy_writer.h"
#include "dataset/import/label_numbers.h"
#include "dataset/meta.h"
#include "dataset/writer_state.h"

namespace atl {
namespace {

void check_labels(std::span<const std::int32_t> labels, int classes, const RowOrigin& origin) {
  const int end = classes > 0 ? classes : kMostClasses;
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (labels[v] >= -1 && labels[v] < end) continue;
    fail(
        "{}: the label is {}; allowed are 0 … {}, and −1 for unlabelled: --relabel numbers the labels that there are",
        origin.at(Index(v)), labels[v], classes > 0 ? std::to_string(end - 1) : "the number of classes − 1");
  }
}

}  // namespace

void DatasetWriter::set_labels(std::span<const std::int32_t> labels, int classes, const RowOrigin& origin,
                               std::vector<std::string> names) {
  NumberedLabels numbered;
  if (state_->options.relabel && names.empty()) {
    numbered = number_labels(labels);
    classes = int(numbered.names.size());
    if (!std::equal(labels.begin(), labels.end(), numbered.classes.begin())) {
      labels = numbered.classes;
      names = std::move(numbered.names);
      add_transform(fmt::format("labels: the {} that there are numbered from 0", classes));
    }
  }
  check_labels(labels, classes, origin);
  const std::int32_t largest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  state_->meta.classes = classes > 0 ? classes : largest + 1;
  state_->meta.class_names = std::move(names);
  state_->labelled = Index(labels.size());
  std::vector<Index> vertices_of(std::size_t(state_->meta.classes));
  for (const std::int32_t label : labels) {
    if (label >= 0) ++vertices_of[std::size_t(label)];
    if (state_->options.split) state_->has_label.push_back(label >= 0);
  }
  state_->tell_classes(vertices_of);
  write_npy(state_->folder.path() / "labels.npy", Dtype::kInt32, labels);
}

void DatasetWriter::set_flags(View<const std::uint8_t> flags, const RowOrigin& origin) {
  const std::span<const std::uint8_t> all(flags.data, std::size_t(flags.rows * flags.cols));
  const std::vector<std::int32_t> classes = classes_of_one_hot(all, std::size_t(flags.cols));
  if (classes.empty()) return set_targets(flags, origin);
  if (std::find(classes.begin(), classes.end(), -1) != classes.end()) {
    state_->warn(fmt::format(
        "{}: no row of labels has more than one 1, and some have none: they are taken as several labels per "
        "vertex. If they are one-hot, save labels.argmax(1) with -1 for rows of zeros",
        state_->meta.name));
    return set_targets(flags, origin);
  }
  state_->say(fmt::format("{}: labels are one-hot: taken as one class per vertex", state_->meta.name));
  add_transform("labels: one-hot rows taken as one class per vertex");
  set_labels(classes, int(flags.cols), origin);
}

void DatasetWriter::set_targets(View<const std::uint8_t> targets, const RowOrigin& origin) {
  NpyWriter file(state_->folder.path() / "targets.npy", Dtype::kUint8, {targets.cols});
  for (Index v = 0; v < targets.rows; ++v) {
    for (Index c = 0; c < targets.cols; ++c) {
      if (targets.at(v, c) > 1) {
        fail("{}: the target of class {} is {}; allowed are 0 and 1", origin.at(v), c, targets.at(v, c));
      }
    }
    file.append(std::span<const std::uint8_t>(targets.row(v), std::size_t(targets.cols)));
  }
  file.finish();
  state_->meta.multi_label = true;
  state_->meta.classes = int(targets.cols);
  state_->labelled = targets.rows;
  if (state_->options.split) state_->has_label.assign(std::size_t(targets.rows), 1);
}

}  // namespace atl
