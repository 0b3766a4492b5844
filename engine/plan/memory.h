// Predicted memory of one rank, by item and by phase of a run.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "plan/dry_run.h"
#include "plan/pair_sizes.h"

namespace atl {

constexpr Index kReal = sizeof(Real);  // bytes of a value

struct MemoryItem {
  std::string name;
  Index bytes = 0;
  bool on_host = false;  // in host memory even where the rank trains on a GPU
};

/// Bytes of `rows` rows of features. Packed rows have a transposed copy for backward, which counts too.
Index feature_bytes(Index rows, const FeatureShape& features);

/// Bytes by phase of a run. Phases don't overlap: a rank's peak is the largest of them.
struct RankMemory {
  std::vector<MemoryItem> items;  // held while training; their sum is `training`
  Index released = 0;             // features that are freed once the layers that never change are computed
  Index mapped = 0;               // pages of files, while loading; given back before training
  Index loading = 0;              // while features are read and the rank's part is cut out
  Index training = 0;
  // by step, where each step trains on its own part: the share of `training` that its part and passes take
  std::vector<Index> batches{};
  Index passes = 0, inference = 0;  // shares of `training`: the training passes, and exact inference
  Index pages = 0;  // mapped arcs that batches read: the kernel takes these pages back when it needs them
  Index file = 0;   // sums in a file on disk; the kernel caches as much of the file as it has memory for
  Index state = 0;  // the share of `training` in checkpoints beside parameters (stale, cached rows)
  Index checkpoint = 0;  // while rank 0 also holds another rank's state
  Index results = 0;  // while predictions and embeddings are written: rank 0 holds the order of all vertices
  // the least host memory of a rank that trains on a GPU: what the rank reads stays on the host, and so do
  // the best epoch's weights
  Index beside_gpu = 0;
  /// Bytes on the GPU of a rank that trains on a GPU. All other sums but `beside_gpu` are for a rank on a
  /// CPU.
  Index on_device() const;
  Index peak() const;
  /// The largest phase without pages that the kernel can take back: those of mapped files. It leaves out
  /// `results`, whose extra rows are read once.
  Index held() const;
  /// The share of `items` that every rank holds, however many ranks there are.
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
  Index labelled = 0;         // how many of the rank's vertices are in a split
  PairMemory pairs{};         // with task linkPrediction
};

RankMemory rank_memory(const MemoryInput& input);

// The share of the mapped files of a data set and its prepared graph that a rank touches. A file's pages
// count as the process's memory for as long as the file is mapped.

/// Bytes resident after the rank has read its part. Each access to a file brings in 64 KiB around it (Linux'
/// fault-around), so rows scattered over a file bring in all of it. Walks the rank's row numbers and none of
/// the files' contents. halo_features: as in PartData.
Index mapped_bytes(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   bool halo_features);

/// The byte at which row r begins in a file of `rows` rows: bytes · r / rows, rounded down. Exact even where
/// the product exceeds an Index.
Index row_begin(Index bytes, Index rows, Index r);

}  // namespace atl
