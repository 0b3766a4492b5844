// What a job will take before it is run: memory of each rank, bytes between ranks, time.
#pragma once

#include <memory>
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

class PlanSection;  // plan/strategy_plan.h

/// What a plan knows the job's graph from.
enum class PlannedFrom {
  kPrepared,      // the graph as it is prepared for the run
  kDataset,       // mini-batches alone: the data set, divided as the run will divide it
  kAssumedParts,  // the same, with parts that aren't the run's (batch_source.h)
};

struct JobPlan {
  PlannedFrom from = PlannedFrom::kPrepared;
  std::vector<RankPlan> ranks;
  Index most_batches = 0;                      // DryInputs::most_batches()
  std::shared_ptr<const PlanSection> section;  // what it says of its strategy alone; null: nothing
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
  // the topology that times were simulated on (simulate/); empty: they follow from rates
  std::string simulated_on;
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

/// Enters an epoch as it was simulated in place of the predicted one. An evaluation is taken to differ from
/// its prediction as much.
void enter_simulated(const Job& job, double epoch_seconds, const std::string& topology, JobPlan& plan);

/// What to tell where evaluations send a multiple of what epochs do; "": they don't.
std::string costly_evaluations(const JobPlan& plan, const Job& job);
/// Likewise where most of what batches send is the gradient of weights that have a row for each feature.
std::string costly_weight(const JobPlan& plan);

/// For a terminal, and as one JSON object.
std::string to_text(const JobPlan& plan, const Job& job);
std::string to_json(const JobPlan& plan, const Job& job);

}  // namespace atl
