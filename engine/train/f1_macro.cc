#include "train/f1_macro.h"

#include <vector>

namespace atl {

std::optional<double> f1_macro(std::span<const ClassCounts> counts) {
  double sum = 0;
  Index classes = 0;
  for (const ClassCounts& c : counts) {
    if (c.predicted + c.actual == 0) continue;
    sum += 2 * double(c.hits) / double(c.predicted + c.actual);
    ++classes;
  }
  if (classes == 0) return std::nullopt;
  return sum / double(classes);
}

void count_by_class_of(Context& ctx, const RankData& data, ConstMatrixView logits,
                       std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  const LabelView& labels = data.label_view();
  if (data.multi_label())
    count_by_label(ctx, logits, labels.targets, rows, counts);
  else
    count_by_class(ctx, logits, labels.classes, rows, counts);
}

void sum_over_ranks(Communicator& comm, std::span<ClassCounts> counts) {
  std::vector<std::int64_t> sums;
  sums.reserve(3 * counts.size());
  for (const ClassCounts& c : counts) sums.insert(sums.end(), {c.hits, c.predicted, c.actual});
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(sums));
  for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = {sums[3 * c], sums[3 * c + 1], sums[3 * c + 2]};
}

}  // namespace atl
