// What a rank trains on where that isn't the part that inference sees: the training vertices' in inductive training, or its share of what
// its server holds.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "train/labels.h"
#include "train/part_data.h"

namespace atl {

/// `data` stays where it is.
struct TrainingPart {
  std::unique_ptr<PartData> data;
  Labels labels;               // of its own vertices, which are its first rows
  std::vector<VertexId> rows;  // of them those in the loss, ascending
  // The same, as kernels read them:
  std::optional<DeviceCopies> copies;  // after place() on another device than the host
  LabelView label_view;
  std::span<const VertexId> placed_rows;

  /// Fills in labels and rows. `trains`: training_marks().
  void read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                   std::span<const std::uint8_t> trains);
  /// Puts what kernels read where those of ctx's device can. Again, it does nothing. `stays`: as PartData::place.
  void place(Context& ctx, bool stays);
};

}  // namespace atl
