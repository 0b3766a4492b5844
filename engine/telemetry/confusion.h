// What can be read off a confusion matrix beside its entries.
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
/// Mean of 2 · hits / (predicted + actual) over the classes that occur or are predicted; absent where none
/// does.
std::optional<double> f1_macro(std::span<const ClassCounts> counts);
std::optional<double> f1_macro(const ConfusionMatrix& confusion);

/// Above this share of one class, accuracy says little.
inline constexpr double kLopsided = 2.0 / 3;

/// A note beside an accuracy, or beside the equal F1 (micro), where most vertices are of one class, such as
/// "78.2 % are of class 0, F1 (macro) 55.3 %"; "" elsewhere.
std::string beside_metric(const RunRecord& run);

}  // namespace atl
