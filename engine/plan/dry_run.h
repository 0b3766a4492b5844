// A dry run: one rank's model, schedule, exchange, loss and optimiser go through one epoch and one evaluation
// as in training, on kernels that compute nothing and a transport that moves nothing. The dry run then holds
// and has sent what the rank will hold and send, whatever the model and the strategy: there is no second
// formula to keep in step.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "model/model.h"
#include "partition/prepared_graph.h"
#include "plan/rank_shape.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/strategy.h"
#include "train/part_data.h"

namespace atl {

// A rank's part of a graph with every size and no contents, for a dry run to compute on. Its arrays are on
// Device::kDry, except for the ids of rows, which strategies draw from.

/// Neither copyable nor movable: part() points into it.
class DryPart {
 public:
  /// halo_features: as in PartData.
  DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features);
  DryPart(const DryPart&) = delete;
  const GraphPart& part() const { return part_; }

 private:
  using Offsets = std::unique_ptr<Index[], ReleaseMemory>;
  /// A (rows × cols) matrix with `arcs` arcs, all in the last row, and no array of columns.
  CsrView csr(Index rows, Index cols, Index arcs);
  /// Features of some rows.
  struct Features {
    Matrix dense;
    SparseRows sparse;
    BitRows bits;
  };
  Rows rows(Index count, const FeatureShape& shape, Features& features);
  void cut_near(const RankShape& shape);

  std::vector<Offsets> offsets_;
  LocalGraph graph_;
  Features features_, halo_features_, computed_features_;
  std::vector<Real> row_weights_;
  std::unique_ptr<PartView> view_;      // null: the strategy has no view
  std::deque<Features> read_features_;  // by list of the view's reads()
  std::deque<std::vector<PeerRows>> near_peers_;
  GraphPart part_;
};

using TrafficBytes = std::array<std::int64_t, kTraffics>;  // by Traffic

struct DryRun {
  ScheduleBytes schedule;  // of the schedule that trains
  // by step, where each step trains on its own part; `schedule` then has the largest of each item
  std::vector<ScheduleBytes> batches;
  ScheduleBytes inference;  // the schedule that evaluates, where it is another one (setting: inductive)
  ScheduleBytes once;       // constant layers computed in slabs, for batches that read no neighbours
  Index workspace = 0;      // kernels' scratch memory
  Index state = 0;          // bytes that the schedule adds to a checkpoint beside the parameters
  Index terms = 0;          // bytes of other ranks' gradients while they are summed
  Index values = 0, trainable = 0;  // elements of all parameters, and of those with gradients
  TrafficBytes epoch{};             // sent by this rank in a training epoch
  TrafficBytes epoch_between{};     // the share of `epoch` that goes to other servers
  TrafficBytes evaluation{};        // sent in an evaluation's forward pass
};

struct DryRunInput {
  const Job& job;
  FeatureShape features;
  Index classes = 0;
  bool multi_label = false;
  double all_vertices = 0;
  int threads = 1;
  RankShape training;  // the part that training sees
  // by step, where each step of an epoch has its own part; `training` is then the largest
  std::vector<RankShape> batches{};
  std::optional<RankShape> full;     // the part that evaluation sees, where it isn't the training part
  std::optional<RankShape> beyond;   // read by layers beyond servers' copies; none: these read `full`
  std::vector<std::string> hosts{};  // by rank; empty: all are on one server
};

/// The model that the job trains on data of this shape.
Model planned_model(const Job& job, const FeatureShape& features, Index classes);

/// Takes milliseconds, and memory for the ids of the rank's rows, whatever the model.
DryRun dry_run(const DryRunInput& input);

// The input of dry runs: the sizes of each rank of a job whose graph is prepared.

/// Ranks that hold parts of the graph. Ask for all ranks of one server before the next server's: then each
/// server's graph is built once.
class DryInputs {
 public:
  /// The arguments outlive the object. `part_of_rank` (ranks): the part that each rank trains (traffic.h).
  /// hosts: as in DryRunInput.
  DryInputs(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
            std::vector<int> part_of_rank, int threads, std::vector<std::string> hosts = {});
  int ranks() const { return int(part_of_rank_.size()); }
  /// Where servers train in batches: the most training vertices of any server, as each vertex may be a batch.
  /// 0: servers train in no batches, or nothing is trained.
  Index most_batches() const { return most_batches_; }
  DataShare share(Rank rank) const;
  /// Reads the rank's arcs once.
  DryRunInput of(Rank rank);

 private:
  void count_batches();
  RankShape shape_of(Rank rank, const VertexMarks& induced_on) const;

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  std::vector<int> part_of_rank_;
  int threads_;
  std::vector<std::string> hosts_;
  VertexMarks marks_;    // the training vertices, where training sees no others
  VertexMarks counted_;  // vertices in a training loss, where servers hold copies
  Index most_batches_ = 0;
  ServerShapes servers_;
  Model model_;
};

}  // namespace atl
