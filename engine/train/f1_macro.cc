#include "train/f1_macro.h"

#include <vector>

#include "tensor/copies.h"

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

std::optional<double> f1_macro(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits,
                               std::span<const VertexId> rows) {
  Buffer<ClassCounts> counted(ctx.device, data.classes());
  const LabelView& labels = data.label_view();
  if (data.multi_label())
    count_by_label(ctx, logits, labels.targets, rows, counted.span());
  else
    count_by_class(ctx, logits, labels.classes, rows, counted.span());
  std::vector<ClassCounts> counts = read(ctx, std::span<const ClassCounts>(counted.span()));
  std::vector<std::int64_t> sums;
  sums.reserve(3 * counts.size());
  for (const ClassCounts& c : counts) sums.insert(sums.end(), {c.hits, c.predicted, c.actual});
  comm.all_reduce(Traffic::kEvaluation, std::span<std::int64_t>(sums));
  for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = {sums[3 * c], sums[3 * c + 1], sums[3 * c + 2]};
  return f1_macro(counts);
}

}  // namespace atl
