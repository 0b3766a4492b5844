// What strategies do to accuracy, and to the epochs that it takes, as measured (docs/benchmarks/effects.md):
// looked up by the data set that is most like the one to be trained on.
#pragma once

#include <optional>
#include <string>

#include "base/types.h"

namespace atl {

struct Effect {
  std::string measured_on = "",
              model = "";  // the data set, and the model's kind; "": not among the stored effects
  double points = 0;       // of the test metric, beside `graph`
  double deviation = 0;    // of a pair's difference
  int pairs = 0;
  // of training vertices, over those of `graph`: points of mini-batches may be those of a shorter training
  double visits = 1;
  /// Optimiser steps until `graph`'s best validation metric less half a point, over those of `graph`: the
  /// middle of those on the three data sets that are most like it. None: unknown. Infinite: it never got
  /// there.
  std::optional<double> length = 1;
  /// On what the length was found for this very job (command/compare.h); "": it is as measured on other sets.
  std::string tried_on = "";
  bool cut_off = false;  // the trial had ended before it was there: it takes more than the length
};

/// What measured sets are compared by.
struct SetSize {
  Index vertices = 0, arcs = 0, features = 0;
  Index training = 0;      // of the vertices
  bool scattered = false;  // parts by hash: most neighbours are other ranks'
};

/// Of a strategy with these options (as strategies are listed: "granndis"). Nothing: it hasn't been measured.
std::optional<Effect> measured_effect(const std::string& label, const SetSize& like);

}  // namespace atl
