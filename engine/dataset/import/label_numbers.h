// Labels that don't count from 0 without gaps, or are text, as classes 0 … k − 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atl {

struct NumberedLabels {
  std::vector<std::int32_t> classes;  // (labels) −1: unlabelled
  std::vector<std::string> names;     // (k) what each class was called
};

/// In ascending order; −1 stays unlabelled.
NumberedLabels number_labels(std::span<const std::int32_t> labels);
/// In the order of their bytes; empty text is unlabelled.
NumberedLabels number_labels(std::span<const std::string> labels);

/// "Atoll predicts classes, not numbers (regression isn't built) …": what to tell of a label that is a
/// number, but no whole one. `labels`: all; where few different ones are among them, they may be names of
/// classes.
std::string not_classes(std::span<const double> labels);

/// The class of each row of 0 and 1 (any, classes), −1 of a row of zeros; nothing where a row has several.
std::vector<std::int32_t> classes_of_one_hot(std::span<const std::uint8_t> rows, std::size_t classes);

}  // namespace atl
