// Figures that follow from a confusion matrix.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "telemetry/record.h"
#include "tensor/kernels.h"

namespace atl {

/// The most frequent true class and its share of the vertices, which is the accuracy of always predicting it.
struct Majority {
  int cls = 0;
  double share = 0;
};

/// Absent where the matrix counts no vertex.
std::optional<Majority> majority_of(const ConfusionMatrix& confusion);
std::optional<double> majority_share(const ConfusionMatrix& confusion);
/// The mean of 2 · hits / (predicted + actual) over the classes that occur or are predicted; absent where no
/// class does.
std::optional<double> f1_macro(std::span<const ClassCounts> counts);
std::optional<double> f1_macro(const ConfusionMatrix& confusion);

/// Accuracy says little if one class has more than this share of the vertices.
inline constexpr double kLopsided = 2.0 / 3;

/// A note beside an accuracy, or beside an F1 (micro), which is equal to it, where most vertices are of one
/// class: "78.2 % are of class 0, F1 (macro) 55.3 %"; "" elsewhere.
std::string beside_metric(const RunRecord& run);

}  // namespace atl
