// What a confusion matrix says beside its entries.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "telemetry/record.h"
#include "tensor/kernels.h"

namespace atl {

/// The class that most vertices are of, and its share of them: what always saying it would get right.
struct Majority {
  int cls = 0;
  double share = 0;
};

/// Absent without vertices.
std::optional<Majority> majority_of(const ConfusionMatrix& confusion);
std::optional<double> majority_share(const ConfusionMatrix& confusion);
/// Mean of 2 · hits / (predicted + actual) over the classes that occur or are predicted; absent where none
/// is.
std::optional<double> f1_macro(std::span<const ClassCounts> counts);
std::optional<double> f1_macro(const ConfusionMatrix& confusion);

/// Above this share of one class, accuracy says little.
inline constexpr double kLopsided = 2.0 / 3;

/// What to read beside an accuracy (or an F1 over all vertices, which is the same) where one class is most of
/// them: "78.2 % are of class 0, F1 (macro) 55.3 %"; "" elsewhere.
std::string beside_metric(const RunRecord& run);

}  // namespace atl
