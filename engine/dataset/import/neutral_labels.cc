#include "dataset/import/neutral_labels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/label_numbers.h"

namespace atl {
namespace {

constexpr Index kPiece = 1 << 18;  // labels at a time

bool is_class(double label) {
  return label == std::floor(label) && std::abs(label) <= std::numeric_limits<std::int32_t>::max();
}

[[noreturn]] void fail_label(const NpyArray& labels, Index row, double label) {
  const bool whole = label == std::floor(label);
  fail(
      "{}: row {}: the label is {}{}", labels.name(), row, label,
      whole
          ? "; classes are whole numbers of 32 bits, or text: save labels.astype(str) to have others numbered"
          : ". " + not_classes(labels.read<double>()));
}

std::vector<std::int32_t> whole_numbers(const NpyArray& labels) {
  std::vector<std::int32_t> classes;
  classes.reserve(std::size_t(labels.rows()));
  std::vector<double> piece;
  for (Index begin = 0; begin < labels.rows(); begin += kPiece) {
    piece.resize(std::size_t(std::min(kPiece, labels.rows() - begin)));
    labels.read_rows(begin, Index(piece.size()), piece.data());
    for (const double label : piece) {
      if (!is_class(label) && !std::isnan(label)) fail_label(labels, Index(classes.size()), label);
      classes.push_back(std::isnan(label) ? -1 : std::int32_t(label));
    }
    labels.forget_rows(begin, begin + Index(piece.size()));
  }
  return classes;
}

std::vector<std::uint8_t> flags(const NpyArray& labels) {
  std::vector<std::uint8_t> targets;
  std::vector<double> row(std::size_t(labels.cols()));
  for (Index r = 0; r < labels.rows(); ++r) {
    labels.read_rows(r, 1, row.data());
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] != 0 && row[c] != 1) {
        fail(
            "{}: row {}: the target of class {} is {}; allowed are 0 and 1: give several labels per vertex as flags, "
            "or one class per vertex as ({}){}",
            labels.name(), r, c, row[c], labels.rows(),
            is_class(row[c]) ? "" : ". Atoll predicts classes, not numbers (regression isn't built)");
      }
      targets.push_back(std::uint8_t(row[c]));
    }
  }
  return targets;
}

void add_text(const NpyArray& labels, DatasetWriter& writer) {
  const NumberedLabels numbered = number_labels(labels.strings());
  writer.set_labels(numbered.classes, int(numbered.names.size()), {labels.name()}, numbered.names);
}

}  // namespace

void add_labels(const NpyArray& labels, const NeutralMeta& meta, DatasetWriter& writer) {
  if (labels.shape().size() == 2 && labels.cols() > 1) {
    if (labels.rows() == 1) expect_a_row_each(labels, labels.cols());
    const std::vector<std::uint8_t> targets = flags(labels);
    const View<const std::uint8_t> rows{targets.data(), labels.rows(), labels.cols()};
    return meta.multi_label ? writer.set_targets(rows, {labels.name()})
                            : writer.set_flags(rows, {labels.name()});
  }
  labels.shape().size() == 2 ? expect_shape(labels, {-1, 1}) : expect_shape(labels, {-1});
  if (is_text(labels.dtype())) return add_text(labels, writer);
  writer.set_labels(whole_numbers(labels), meta.classes, {labels.name()}, meta.class_names);
}

}  // namespace atl
