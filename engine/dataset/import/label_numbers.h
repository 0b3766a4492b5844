// Maps labels that are text, or don't count from 0 without gaps, to classes 0 … k − 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atl {

struct NumberedLabels {
  std::vector<std::int32_t> classes;  // (labels) −1: unlabelled
  std::vector<std::string> names;     // (k) the original label of each class
};

/// Numbers labels in ascending order; −1 stays unlabelled.
NumberedLabels number_labels(std::span<const std::int32_t> labels);
/// Numbers labels in the order of their bytes; empty text is unlabelled.
NumberedLabels number_labels(std::span<const std::string> labels);

/// The message about a label that is a number but not a whole one: "Atoll predicts classes, not numbers
/// (regression isn't built) …". `labels` are all labels; if only few differ, they may be names of classes.
std::string not_classes(std::span<const double> labels);

/// The class of each row of 0 and 1 (any, classes), −1 for a row of zeros; empty if any row has several ones.
std::vector<std::int32_t> classes_of_one_hot(std::span<const std::uint8_t> rows, std::size_t classes);

}  // namespace atl
