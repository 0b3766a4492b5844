// Measured effects of strategies on accuracy, and on the epochs that training takes
// (docs/benchmarks/effects.md). They are looked up by the stored data set that is most like the job's.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

struct Effect {
  std::string measured_on = "",
              model = "";  // the data set, and the model's kind; "": not among the stored effects
  double points = 0;       // of the test metric, relative to `graph`'s
  double deviation = 0;    // of the difference within a pair of runs
  int pairs = 0;
  // of training vertices, relative to `graph`'s: mini-batches may lose points by shorter training alone
  double visits = 1;
  /// Optimiser steps until the validation metric comes within half a point of `graph`'s best, relative to
  /// `graph`'s steps: the median of the three most similar data sets. None: unknown. Infinite: it never came
  /// so near.
  std::optional<double> length = 1;
  /// The graph on which `length` was found for this very job (command/compare.h); "": it was measured on
  /// other data sets.
  std::string tried_on = "";
  bool cut_off = false;  // the trial ended first: `length` is a lower bound
};

/// The figures by which data sets are compared.
struct SetSize {
  Index vertices = 0, arcs = 0, features = 0;
  Index training = 0;      // training vertices
  bool scattered = false;  // parts by hash: most neighbours belong to other ranks
};

/// The effect of a strategy with these options (as strategies are listed: "granndis"). None: it hasn't been
/// measured.
std::optional<Effect> measured_effect(const std::string& label, const SetSize& like);

// The table that effects.cc searches, written by tests/accuracy/effects.

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
