// The tables that effects.cc searches, written by tests/accuracy/effects.
#pragma once

#include <string>
#include <vector>

#include "compare/effects.h"

namespace atl {

/// A strategy's effect on accuracy.
struct MeasuredStrategy {
  std::string label;  // as strategies are listed
  double points = 0, deviation = 0;
  int pairs = 0;
  double visits = 1;
};

struct MeasuredSet {
  std::string name, model;
  SetSize size;
  std::vector<MeasuredStrategy> strategies;
};

inline constexpr const char* kByHash = " by hash";  // suffix of a label: measured with parts by hash

const std::vector<MeasuredSet>& measured_sets();
const std::vector<StoredRuns>& stored_runs();

}  // namespace atl
