// What is known of strategies that aren't exact: their effect on accuracy, and on the steps that training
// takes, from runs beside `graph` (docs/benchmarks/effects.md).
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// Length of a run that never got as far as `graph`.
inline constexpr double kNotThere = std::numeric_limits<double>::infinity();

/// A number, and how much it counts in a mean.
struct Weighted {
  double value = 0, weight = 1;
};

/// How long runs took: optimiser steps until the validation metric came within half a point of `graph`'s
/// best, relative to `graph`'s steps. One number a run.
struct Lengths {
  std::vector<Weighted> of_runs;  // those with the job's kind of model come first
  std::size_t others = 0;         // how many of them, the last ones, are with other kinds of models
  double doubt = 0;               // weight of one run more, which isn't stored, and never gets there
  std::string model;              // the job's kind of model
  bool guessed = false;           // runs of the same kind with other options, too: nothing is chosen by them
};

struct Effect {
  // "": the effect on accuracy isn't known. Else the data set that is most like the job's, and the model.
  std::string measured_on = "", model = "";
  double points = 0;     // of the test metric, relative to `graph`'s
  double deviation = 0;  // of the difference within a pair of runs
  int pairs = 0;
  // of training vertices, relative to `graph`'s: mini-batches may lose points by shorter training alone
  double visits = 1;
  Lengths lengths;
  /// The graph on which the one length was found for this very job (compare/comparison.h); "": nothing was
  /// tried.
  std::string tried_on = "";
  bool cut_off = false;  // the trial ended first: the length is a lower bound
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

/// The lengths of those of the `stored` runs that tell most of a strategy: of its own options where there are
/// enough of these, else of all options; with parts cut alike, else with others. Runs with the job's model
/// count one each. Those with other models, and one that fails, count as two together. Empty where nothing of
/// its kind is stored.
Lengths lengths_of(const std::vector<StoredRuns>& stored, const std::string& label, const std::string& model,
                   bool scattered);

/// All that is stored of a strategy with these options, for a job's model and data set.
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
