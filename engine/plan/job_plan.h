// What a job will take before it is run: memory of each rank, bytes between ranks, time.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "plan/cards.h"
#include "plan/memory.h"
#include "plan/metric_traffic.h"
#include "plan/rank_shape.h"

namespace atl {

struct RankPlan {
  RankShape shape;  // of the part that training sees
  RankMemory memory;
  EpochWork work;
  double compute_seconds = 0, communication_seconds = 0;  // of an epoch
  double evaluation_seconds = 0;
  TrafficBytes epoch{};                // sent by the rank in an epoch
  TrafficBytes epoch_between{};        // of it, to other servers
  TrafficBytes evaluation{};           // sent in an evaluation
  EvaluationParts evaluation_parts{};  // of it; none where all of a rank's rows are inferred at once
  /// From rates: computing and communicating at once where the strategy does, else one after the other.
  double epoch_seconds = 0;
};

/// What the ranks of a server hold together, where servers hold copies of each other's vertices.
struct ServerPlan {
  std::vector<Rank> ranks;
  // Of the largest batch, where there are several:
  Index own = 0, copies = 0;     // vertices, and copies of others
  Index arcs = 0;                // that training sees
  Index bytes = 0;               // RankMemory::held()
  std::vector<Index> batches{};  // of it what each batch takes; empty: it trains on all its vertices at once
  std::vector<Index>
      computed;  // vertices that each layer computes which reads neighbours, the first layer first
  double share_of_copies() const { return double(copies) / double(std::max<Index>(own + copies, 1)); }
};

/// What an epoch sends where features are held by columns, over all ranks, and what it would send were they held by rows.
struct ColumnsPlan {
  int pieces = 1, copies = 1;  // of the columns; ranks that have the same
  Index width = 0;             // of the products that are made whole
  bool after_gather = true;    // false: an encoder's, of every row that batches read
  int value_bytes = 4;
  double rows = 0;     // whose products are made whole
  double pushed = 0;   // bytes of batches' first layers …
  double summed = 0;   // … of summands, scores and gradients …
  double by_rows = 0;  // … and, by rows, of features, from those that have other columns
  double sent() const { return pushed + summed; }
  /// Of what is summed: a column of the products, there and back; and attention's scores, of which there are as many at any width.
  double a_column() const { return 2.0 * (pieces - 1) * rows * value_bytes; }
  double scores() const {
    constexpr double kRounding = 1e-6;  // of what is drawn of some batches and told of all
    const double rest = summed - a_column() * double(width);
    return rest > kRounding * summed ? rest : 0;
  }
  /// The width at which both send the same; 0: at none, because less goes by rows at any width, or nothing is summed.
  double boundary_set() const {
    return a_column() > 0 ? std::max(0.0, (by_rows - pushed - scores()) / a_column()) : 0;
  }
};

/// Which layers a stage of a pipeline has.
struct StagePlan {
  std::vector<Rank> ranks;
  int first_convolution = 1, convolutions = 0;  // layers that read neighbours, counted from 1
  int dense = 0;                                // layers that don't
};

/// What a plan knows the job's graph from.
enum class PlannedFrom {
  kPrepared,      // the graph as it is prepared for the run
  kDataset,       // mini-batches alone: the data set, divided as the run will divide it
  kAssumedParts,  // the same, with parts that aren't the run's (batch_source.h)
};

struct JobPlan {
  PlannedFrom from = PlannedFrom::kPrepared;
  std::vector<RankPlan> ranks;
  Index most_batches = 0;                // DryInputs::most_batches()
  std::vector<ServerPlan> servers;       // empty: they hold no copies (server_plan.h)
  std::optional<ColumnsPlan> columns{};  // none: features are held by rows
  std::vector<StagePlan> stages;         // empty: every rank has all layers (stage_plan.h)
  double stall = 1;                      // of a pipeline whose first layer isn't cut into chunks (gnnpipe.h)
  double wide_weight = 0;  // of batches: the share of the gradient that has a row for each feature
  MachineRates rates;      // of one rank while the others work too
  double link_bytes = 0;   // a second, between two ranks
  int threads = 1;
  const Card* card = nullptr;                        // that each rank has; null: it computes on processors
  double epoch_seconds = 0, evaluation_seconds = 0;  // of the slowest rank
  double total_seconds = 0;                          // of all epochs and their evaluations
  TrafficBytes epoch{}, epoch_between{};             // of all ranks together
  TrafficBytes evaluation{};                         // likewise
  EvaluationParts evaluation_parts{};                // likewise
  std::string
      simulated_on;  // the topology that times were simulated on (simulate/); empty: they follow from rates
};

struct PlanOptions {
  int threads = 1;     // of each rank
  MachineRates rates;  // of all threads of one rank
  double link_bytes = 0;
  std::vector<std::string> hosts{};  // by rank; empty: all are on one server
};

/// Pure but for reading the data set's and the prepared graph's sizes.
JobPlan plan_job(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                 const PlanOptions& options);
/// Of a job that trains on mini-batches, without a prepared graph.
JobPlan plan_job(const Job& job, const Dataset& dataset, const PlanOptions& options);

/// Enters an epoch as it was simulated in place of the predicted one. An evaluation is taken to differ from its prediction as much.
void enter_simulated(const Job& job, double epoch_seconds, const std::string& topology, JobPlan& plan);

/// What to tell where evaluations send a multiple of what epochs do; "": they don't.
std::string costly_evaluations(const JobPlan& plan, const Job& job);
/// Likewise where most of what batches send is the gradient of weights that have a row for each feature.
std::string costly_weight(const JobPlan& plan);

/// For a terminal, and as one JSON object.
std::string to_text(const JobPlan& plan, const Job& job);
std::string to_json(const JobPlan& plan, const Job& job);

}  // namespace atl
