// The data for one rank's mini-batches: arcs to draw from, features of its rows, and the vertices that it
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

/// Owned by the session, which keeps everything that it views alive longer.
struct BatchGraph {
  Owners owners;
  DrawnGraph training, whole;  // differ only with setting: inductive
  Rows features;               // (owned, F), in the form that ranks hold; empty if they hold columns instead:
  std::optional<HeldColumns> columns{};
  TrainingRows training_rows;           // of this rank's parts
  std::vector<Index> training_by_part;  // (parts) training vertices of each, the same on all ranks
  // for link prediction, where `training_rows` are numbers of its edges; null: there are none
  const PairGraph* pairs = nullptr;
  bool sparse = false;  // a batch's first layer reads packed `features` as sparse rows
  double entries = 0;   // per sparse row, over the whole data set
};

}  // namespace atl
