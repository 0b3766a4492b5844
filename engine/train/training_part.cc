#include "train/training_part.h"

namespace atl {

void TrainingPart::read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                               std::span<const std::uint8_t> trains) {
  const auto ids = data->owned_ids().first(std::size_t(data->graph().counted));
  labels = atl::read_labels(job, dataset, use, ids);
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (trains[std::size_t(ids[row])] != 0 && labels.has(row)) rows.push_back(VertexId(row));
  label_view = labels.view();
  placed_rows = rows;
}

void TrainingPart::place(Context& ctx, bool stays) {
  if (copies || memory_of(ctx.device).is_hosts) return;
  copies.emplace(ctx);
  label_view = on_device(*copies, label_view, Index(labels.classes.size()));
  placed_rows = copies->of(placed_rows);
  data->place(ctx, stays);
}

}  // namespace atl
