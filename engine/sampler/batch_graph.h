// What one rank's mini-batches are made of: arcs to draw from, its rows' features, and the vertices that it
// trains on.
#pragma once

#include <optional>
#include <vector>

#include "sampler/column_push.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_graph.h"
#include "sampler/row_draws.h"
#include "sampler/seeds.h"

namespace atl {

/// Owned by the session; what it views outlives it.
struct BatchGraph {
  Owners owners;
  DrawnGraph training, whole;  // which differ with setting: inductive
  Rows features;               // (owned, F), as ranks hold them; empty where they hold columns instead:
  std::optional<HeldColumns> columns{};
  TrainingRows training_rows;           // of this rank's parts
  std::vector<Index> training_by_part;  // (parts) how many each has, the same on all ranks
  // of link prediction: `training_rows` are numbers of its edges; null: there are none
  const PairGraph* pairs = nullptr;
  bool sparse = false;  // what a batch's first layer reads of `features` that are held packed
  double entries = 0;   // of a row that is held sparse, over the whole data set
};

}  // namespace atl
