// The table that effects.cc searches, written by tests/accuracy/effects.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "compare/effects.h"

namespace atl {

struct MeasuredStrategy {
  std::string label;  // as strategies are listed
  double points = 0, deviation = 0;
  int pairs = 0;
  double length = 1, visits = 1;
};

struct MeasuredSet {
  std::string name;
  SetSize size;
  std::vector<MeasuredStrategy> strategies;
};

inline constexpr const char* kByHash = " by hash";  // suffix of a label: measured with parts by hash
/// Length of a strategy that never got as far as `graph`.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

const std::vector<MeasuredSet>& measured_sets();
/// The kind of the model of all measurements.
const char* measured_model();

}  // namespace atl
