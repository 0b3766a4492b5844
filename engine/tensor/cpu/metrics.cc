// The counts behind metrics. The predicted class of a row is its largest logit, the first if several are
// equal.
#include <algorithm>
#include <array>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

std::size_t largest(ConstMatrixView logits, Index row) {
  const Real* x = logits.row(row);
  return std::size_t(std::max_element(x, x + logits.cols) - x);
}

void check_rows(std::span<const VertexId> rows, Index n) {
  ATOLL_CHECK(rows.empty() || (rows.front() >= 0 && rows.back() < n), "rows {} … {} of {}", rows.front(),
              rows.back(), n);
}

/// Σ of count(row) over the selected rows of logits.
template <class F>
LabelCounts over_rows(Context& ctx, ConstMatrixView logits, std::span<const VertexId> rows, F&& count) {
  check_rows(rows, logits.rows);
  const RowChunks chunks = few_chunks_of_rows(Index(rows.size()), logits.cols);
  std::array<LabelCounts, kFewChunks> partial{};
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    LabelCounts mine;
    for (Index i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const LabelCounts one = count(rows[std::size_t(i)]);
      mine.right += one.right;
      mine.wrong += one.wrong;
    }
    partial[std::size_t(chunk)] = mine;
  });
  LabelCounts total;
  for (const LabelCounts& c : partial) total.right += c.right, total.wrong += c.wrong;
  return total;
}

}  // namespace

void count_classes(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, LabelCounts* counts) {
  *counts = over_rows(ctx, logits, rows, [&](VertexId row) {
    const bool right = largest(logits, row) == std::size_t(labels[row]);
    return LabelCounts{right, !right};
  });
}

void count_labels(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                  std::span<const VertexId> rows, LabelCounts* counts) {
  *counts = over_rows(ctx, logits, rows, [&](VertexId row) {
    LabelCounts one;
    for (Index c = 0; c < logits.cols; ++c) {
      const bool predicted = logits.at(row, c) > 0, actual = targets.at(row, c) != 0;
      one.right += predicted && actual;
      one.wrong += predicted != actual;
    }
    return one;
  });
}

void count_by_class(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  check_rows(rows, logits.rows);
  // One chunk counts all rows, as for the confusions.
  run_chunks(ctx, 1, [&](Index) {
    std::ranges::fill(counts, ClassCounts{});
    for (const VertexId row : rows) {
      const std::size_t predicted = largest(logits, row), actual = std::size_t(labels[row]);
      ++counts[predicted].predicted;
      ++counts[actual].actual;
      if (predicted == actual) ++counts[actual].hits;
    }
  });
}

/// Each chunk does some of the labels, so that no two threads count the same one.
void count_by_label(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                    std::span<const VertexId> rows, std::span<ClassCounts> counts) {
  check_rows(rows, logits.rows);
  constexpr Index kLabels = 16;  // a cache line of logits
  const RowChunks chunks{logits.cols, kLabels};
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    for (Index c = chunks.begin(chunk); c < chunks.end(chunk); ++c) counts[std::size_t(c)] = {};
    for (const VertexId row : rows) {
      for (Index c = chunks.begin(chunk); c < chunks.end(chunk); ++c) {
        const bool predicted = logits.at(row, c) > 0, actual = targets.at(row, c) != 0;
        ClassCounts& mine = counts[std::size_t(c)];
        mine.predicted += predicted;
        mine.actual += actual;
        mine.hits += predicted && actual;
      }
    }
  });
}

void count_confusions(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                      std::span<const VertexId> rows, std::span<std::int64_t> counts) {
  const auto classes = std::size_t(logits.cols);
  check_rows(rows, logits.rows);
  // One chunk counts all rows, because rows of equal label and prediction add to the same count. It needn't
  // be fast: this runs only once per run.
  run_chunks(ctx, 1, [&](Index) {
    std::ranges::fill(counts, 0);
    for (const VertexId row : rows) ++counts[std::size_t(labels[row]) * classes + largest(logits, row)];
  });
}

}  // namespace atl::cpu
