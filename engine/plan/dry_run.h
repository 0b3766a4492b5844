// A dry run: one rank's model, schedule, exchange, loss and optimiser go through one epoch and one evaluation
// as in training, on kernels that compute nothing and a transport that moves nothing. What they then hold and
// have sent is what the rank will hold and send, whatever the model and the strategy: there is no second
// formula to keep in step.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>

#include "comm/ledger.h"
#include "job/job.h"
#include "model/model.h"
#include "plan/rank_shape.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/strategy.h"
#include "train/part_data.h"

namespace atl {

// A rank's part of a graph with every size and no contents: what a dry run computes on. Its arrays are on
// Device::kDry, but for the ids of rows, which strategies draw from.

/// Neither copyable nor movable: part() points into it.
class DryPart {
 public:
  /// halo_features: as in PartData.
  DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features);
  DryPart(const DryPart&) = delete;
  const GraphPart& part() const { return part_; }

 private:
  using Offsets = std::unique_ptr<Index[], ReleaseMemory>;
  /// (rows × cols) with `arcs` arcs, all of them in the last row, and no columns.
  CsrView csr(Index rows, Index cols, Index arcs);
  /// Features of some rows.
  struct Features {
    Matrix dense;
    SparseRows sparse;
    BitRows bits;
  };
  Rows rows(Index count, const FeatureShape& shape, Features& features);
  void cut_chunks(const RankShape& shape);
  void cut_near(const RankShape& shape);
  void read_by_owner(const RankShape& shape, const FeatureShape& features, bool halo_features);

  std::vector<Offsets> offsets_;
  LocalGraph graph_;
  Features features_, halo_features_, computed_features_;
  std::vector<Real> row_weights_;
  std::vector<Index> owned_by_rank_;
  std::vector<std::vector<VertexId>> chunk_reads_;  // by chunk …
  std::vector<ChunkRun> chunk_runs_;                // … and one run of them each
  std::deque<std::vector<PeerRows>> near_peers_;
  std::vector<VertexId> owners_ids_;                // of the blocks' destinations
  std::vector<std::vector<VertexId>> owners_rows_;  // by block
  std::deque<Features> owners_features_;
  GraphPart part_;
};

using TrafficBytes = std::array<std::int64_t, kTraffics>;  // by Traffic

struct DryRun {
  ScheduleBytes schedule;  // that trains
  // in each step, where steps train on parts of their own; schedule has the most of each
  std::vector<ScheduleBytes> batches;
  ScheduleBytes inference;  // of the second one, where training sees less of the graph (setting: inductive)
  ScheduleBytes once;   // while constant layers are computed in slabs, for batches that read no neighbours
  Index workspace = 0;  // kernels' scratch memory
  Index state = 0;      // what the schedule hands to a checkpoint beside the parameters
  Index terms = 0;      // of other ranks' gradients, while they are summed
  Index values = 0, trainable = 0;  // elements of all parameters, and of those with gradients
  TrafficBytes epoch{};             // sent by this rank in a training epoch
  TrafficBytes epoch_between{};     // of it, to other servers
  TrafficBytes evaluation{};        // and in an evaluation's forward pass
};

struct DryRunInput {
  const Job& job;
  FeatureShape features;
  Index classes = 0;
  bool multi_label = false;
  double all_vertices = 0;
  int threads = 1;
  RankShape training;  // the part that training sees
  // the parts of an epoch's steps, where each has its own; training is the largest
  std::vector<RankShape> batches{};
  std::optional<RankShape> full;     // the part that evaluation sees, where it is another
  std::optional<RankShape> beyond;   // the part that layers beyond servers' copies read, where it is neither
  std::vector<std::string> hosts{};  // by rank; empty: all are on one server
};

/// The model that the job trains on such data, without data.
Model planned_model(const Job& job, const FeatureShape& features, Index classes);

/// Takes milliseconds, and memory for the ids of the rank's rows, whatever the model.
DryRun dry_run(const DryRunInput& input);

}  // namespace atl
