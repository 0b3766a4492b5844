// Labels of a rank's rows, as read from the data set and as kernels read them.
#pragma once

#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/local_graph.h"
#include "tensor/copies.h"

namespace atl {

/// How a data set is read: as it is, for training, or as far as it fits an existing model, for predictions.
struct DataUse {
  Index classes = 0;                       // of the model
  FeatureForm form = FeatureForm::kDense;  // as the model reads features
  bool known = true;                       // false: as if no vertex had a label
  bool by_split = true;                    // false: without splits; every labelled vertex is a test vertex
  bool trains = true;                      // false: only for inference
};

/// Labels of some rows as kernels read them; one of the two is set.
struct LabelView {
  const std::int32_t* classes = nullptr;  // (rows)
  View<const std::uint8_t> targets = {};  // (rows, labels)
  LabelView slice(Index first, Index count) const {
    return {classes == nullptr ? nullptr : classes + first,
            targets.cols == 0 ? targets : targets.slice_rows(first, count)};
  }
};

/// Labels of a part's owned rows: one class each, −1 = unlabelled, or, if multi-label, targets of 0 and 1.
struct Labels {
  std::vector<std::int32_t> classes;  // (rows); empty: multi-label
  std::vector<std::uint8_t> targets;  // (rows, columns); empty: not multi-label, or all unlabelled
  Index columns = 0;                  // 0: one class each
  View<const std::uint8_t> target_rows() const {
    return {targets.data(), columns > 0 ? Index(targets.size()) / columns : 0, columns};
  }
  LabelView view() const { return {classes.empty() ? nullptr : classes.data(), target_rows()}; }
  /// An unlabelled vertex is in no split.
  bool has(std::size_t row) const { return columns > 0 ? !targets.empty() : classes[row] >= 0; }
};
Labels read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                   std::span<const VertexId> vertices);
/// Copies `host`, which has `rows` rows, to where the device's kernels can read it.
LabelView on_device(DeviceCopies& copies, const LabelView& host, Index rows);

/// The training vertices of the job's split. With task linkPrediction every vertex is one, and counts in the
/// loss. The data set outlives the marks, which read its files.
VertexMarks training_marks(const Dataset& dataset, const Job& job);
/// The training vertices with a label, which the loss counts.
VertexMarks loss_marks(const Dataset& dataset, const Job& job);

}  // namespace atl
