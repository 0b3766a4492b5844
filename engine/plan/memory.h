// Predicted memory of one rank, by item and by phase of a run.
#pragma once

#include <string>
#include <vector>

#include "plan/dry_run.h"
#include "plan/pair_sizes.h"

namespace atl {

struct MemoryItem {
  std::string name;
  Index bytes = 0;
  bool is_hosts = false;  // where the rank trains on a GPU, too
};

/// Bytes of `rows` rows of features, and of what backward needs besides where they are packed.
Index feature_bytes(Index rows, const FeatureShape& features);

/// The phases don't overlap; a rank's peak is the largest.
struct RankMemory {
  std::vector<MemoryItem> items;  // held while training; their sum is `training`
  Index released = 0;             // features, once the layers that never change are computed from them
  Index mapped = 0;               // pages of files, while loading; given back before training
  Index loading = 0;              // reading features and cutting out the rank's part
  Index training = 0;
  // of it, what each batch takes: its part and passes; where steps train on parts of their own
  std::vector<Index> batches{};
  Index passes = 0, inference = 0;  // of it, what training's passes take, and exact inference beside them
  Index pages = 0;       // of mapped arcs that batches read: the kernel takes them back when it needs them
  Index state = 0;       // of it, what goes into a checkpoint beside the parameters (late and cached rows)
  Index checkpoint = 0;  // while rank 0 holds another rank's state as well
  Index results = 0;     // writing predictions and embeddings: rank 0 holds the order of all vertices
  /// Of a GPU, where it trains on one; what follows is for a rank on a CPU.
  Index on_device() const;
  Index peak() const;
  /// The largest of what can't be given up: pages of files can, and what is read of them once while results
  /// are written.
  Index held() const;
  /// Of `items`: held by every rank alike, however many there are.
  Index replicated() const;
};

struct MemoryInput {
  const DryRunInput& run;
  const DryRun& dry;
  const Model& model;
  Index mapped = 0;           // mapped_bytes()
  bool weighted = false;      // arcs
  bool original_ids = false;  // of vertices
  Index vertices = 0;         // of the whole graph
  Index labelled = 0;         // of the rank's vertices, in some split
  PairMemory pairs{};         // with task linkPrediction
};

RankMemory rank_memory(const MemoryInput& input);

}  // namespace atl
