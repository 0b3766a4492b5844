// What stored runs tell about strategies that aren't exact: their effect on accuracy, and on the steps that
// training takes. The runs were made beside runs of `graph` (docs/benchmarks/effects.md).
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// The length of a run that never got as far as `graph`.
inline constexpr double kNotThere = std::numeric_limits<double>::infinity();

/// A number, and its weight in a mean.
struct Weighted {
  double value = 0, weight = 1;
};

/// The lengths of runs, one number per run: the optimiser steps until the validation metric came within half
/// a point of `graph`'s best, relative to `graph`'s steps.
struct Lengths {
  std::vector<Weighted> of_runs;  // runs with the job's kind of model come first
  std::size_t others = 0;         // how many runs, at the end, have other kinds of models
  double doubt = 0;               // weight of one more run, which isn't stored and never gets there
  std::string model;              // the job's kind of model
  bool guessed = false;           // runs include other options of the kind: nothing is chosen by them
};

struct Effect {
  // The data set that is most like the job's, and the model; "": the effect on accuracy isn't known.
  std::string measured_on = "", model = "";
  double points = 0;     // difference of the test metric from `graph`'s
  double deviation = 0;  // deviation of the difference within a pair of runs
  int pairs = 0;
  // visits of training vertices, relative to `graph`'s: mini-batches may lose points by shorter training
  // alone
  double visits = 1;
  Lengths lengths;
  /// The graph of the trial for this very job, by which the only length was found (compare/comparison.h); "":
  /// nothing was tried.
  std::string tried_on = "";
  bool cut_off = false;  // the trial ended too early: the length is a lower bound
};

/// The figures by which data sets are compared.
struct SetSize {
  Index vertices = 0, arcs = 0, features = 0;
  Index training = 0;      // training vertices
  bool scattered = false;  // parts by hash: most neighbours belong to other ranks
};

/// Stored runs of a strategy (as strategies are listed: "granndis") with one kind of model.
struct StoredRuns {
  std::string label, model;
  bool scattered = false;
  std::vector<double> lengths;
};

/// The lengths of the `stored` runs that tell most about a strategy: runs with its own options, or with any
/// options of its kind if there are too few. Of both, runs with parts cut alike are preferred to others. A
/// run with the job's model has weight 1. The runs with other models share the weight 2 with one imagined run
/// that fails (Lengths::doubt). Empty if no run of the strategy's kind is stored.
Lengths lengths_of(const std::vector<StoredRuns>& stored, const std::string& label, const std::string& model,
                   bool scattered);

/// All that is stored about a strategy with these options, for a job's model and data set.
Effect known_effect(const std::string& label, const std::string& model, const SetSize& like);

// The tables that effects.cc searches, written by tests/accuracy/effects.

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
