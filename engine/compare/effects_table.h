// What effects.cc looks up: a table that tests/accuracy/effects writes.
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

inline constexpr const char* kByHash = " by hash";  // behind a label: with parts by hash
/// The length of a strategy that didn't get there.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

const std::vector<MeasuredSet>& measured_sets();
/// The kind of the model that all was measured with.
const char* measured_model();

}  // namespace atl
