// The counts behind metrics, added up as whole numbers, whose order doesn't matter.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

__device__ void count(std::int64_t* to, std::int64_t by) {
  if (by != 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(by));
}

/// The class of the largest logit, on all lanes; the first one if several are equal. A NaN counts as largest
/// if it comes first, and as smallest elsewhere.
__device__ Index largest(ConstMatrixView logits, Index row, const Lanes& lanes) {
  const Real* const x = row_of(logits, row);
  Real most = x[0];
  Index where = 0;
  for (Index c = lanes.lane; c < logits.cols; c += lanes.count)
    if (x[c] > most) most = x[c], where = c;
  for (int distance = lanes.count / 2; distance > 0; distance /= 2) {
    const Real other = __shfl_xor_sync(lanes.mask, most, distance);
    const Index there = __shfl_xor_sync(lanes.mask, where, distance);
    if (other > most || (other == most && there < where)) most = other, where = there;
  }
  return where;
}

/// Zeroes `words` numbers from `counts` on, then calls work(row, lanes) for each selected row.
template <class F>
void over_rows(Context& ctx, Index cols, std::span<const VertexId> rows, void* counts, Index words,
               const F& work) {
  auto* const numbers = static_cast<std::int64_t*>(counts);
  for_items(ctx, words, [=] __device__(Index i) { numbers[i] = 0; });
  const VertexId* const row_of = rows.data();
  for_rows(ctx, Index(rows.size()), cols,
           [=] __device__(Index i, const Lanes& lanes) { work(Index(row_of[i]), lanes); });
}

constexpr Index kLabelWords = sizeof(LabelCounts) / sizeof(std::int64_t),
                kClassWords = sizeof(ClassCounts) / sizeof(std::int64_t);

}  // namespace

void count_classes(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, LabelCounts* counts) {
  over_rows(ctx, logits.cols, rows, counts, kLabelWords, [=] __device__(Index row, const Lanes& lanes) {
    const bool right = largest(logits, row, lanes) == labels[row];
    if (lanes.lane == 0) count(right ? &counts->right : &counts->wrong, 1);
  });
}

void count_labels(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                  std::span<const VertexId> rows, LabelCounts* counts) {
  over_rows(ctx, logits.cols, rows, counts, kLabelWords, [=] __device__(Index row, const Lanes& lanes) {
    std::int64_t right = 0, wrong = 0;
    for (Index c = lanes.lane; c < logits.cols; c += lanes.count) {
      const bool predicted = at(logits, row, c) > 0, actual = at(targets, row, c) != 0;
      right += predicted && actual ? 1 : 0;
      wrong += predicted != actual ? 1 : 0;
    }
    right = lanes.sum(right);
    wrong = lanes.sum(wrong);
    if (lanes.lane == 0) count(&counts->right, right), count(&counts->wrong, wrong);
  });
}

void count_by_class(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  ClassCounts* const to = counts.data();
  over_rows(ctx, logits.cols, rows, to, kClassWords * Index(counts.size()),
            [=] __device__(Index row, const Lanes& lanes) {
              const Index predicted = largest(logits, row, lanes), actual = labels[row];
              if (lanes.lane > 0) return;
              count(&to[predicted].predicted, 1);
              count(&to[actual].actual, 1);
              count(&to[actual].hits, predicted == actual ? 1 : 0);
            });
}

void count_by_label(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  ClassCounts* const to = counts.data();
  over_rows(ctx, logits.cols, rows, to, kClassWords * Index(counts.size()),
            [=] __device__(Index row, const Lanes& lanes) {
              for (Index c = lanes.lane; c < logits.cols; c += lanes.count) {
                const bool predicted = at(logits, row, c) > 0, actual = at(targets, row, c) != 0;
                count(&to[c].predicted, predicted ? 1 : 0);
                count(&to[c].actual, actual ? 1 : 0);
                count(&to[c].hits, predicted && actual ? 1 : 0);
              }
            });
}

void count_confusions(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                      std::span<const VertexId> rows, std::span<std::int64_t> counts) {
  std::int64_t* const to = counts.data();
  over_rows(ctx, logits.cols, rows, to, Index(counts.size()), [=] __device__(Index row, const Lanes& lanes) {
    const Index predicted = largest(logits, row, lanes);
    if (lanes.lane == 0) count(&to[labels[row] * logits.cols + predicted], 1);
  });
}

}  // namespace atl::cuda
