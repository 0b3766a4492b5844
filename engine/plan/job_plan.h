// What a job will take, before it is run: each rank's memory, bytes between ranks, time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "plan/memory.h"
#include "plan/rank_shape.h"
#include "plan/traffic.h"
#include "tensor/rates.h"

namespace atl {

// GPUs that a plan knows by name: the rates of their kernels, and their memory.

struct Card {
  const char* name;    // as the manifest and the command line name it: "h100"
  const char* title;   // "H100 (80 GB, SXM)"
  MachineRates rates;  // of a rank that has the card to itself
  Index bytes;         // memory that programs can use
  double link_bytes;   // per second and direction, over PCIe between cards of a server
  bool measured;       // whether the rates were measured; if not, they follow from the data sheet
  const char* source;  // where the rates are from
};

/// Throws Error, which names the known cards, if `name` is none of them.
const Card& card_of(const std::string& name);
/// "a100, h100 or h200"
std::string card_names();

struct RankPlan {
  RankShape shape;  // the part that training sees
  RankMemory memory;
  EpochWork work;
  double compute_seconds = 0, communication_seconds = 0;  // of an epoch
  double evaluation_seconds = 0;
  TrafficBytes epoch{};                // sent by the rank in an epoch
  TrafficBytes epoch_between{};        // the share of `epoch` that goes to other servers
  TrafficBytes evaluation{};           // sent in an evaluation
  EvaluationParts evaluation_parts{};  // of `evaluation`; zero where rows are inferred all at once
  /// Predicted from rates: compute plus communication, unless the strategy overlaps the two.
  double epoch_seconds = 0;
};

class PlanSection;  // plan/strategy_plan.h

/// What the plan is made from.
enum class PlannedFrom {
  kPrepared,      // the job's prepared graph
  kDataset,       // for mini-batches: the data set, divided as the run will divide it
  kAssumedParts,  // as kDataset, with parts that aren't the run's (batch_source.h)
};

struct JobPlan {
  PlannedFrom from = PlannedFrom::kPrepared;
  std::vector<RankPlan> ranks;
  Index most_batches = 0;                      // DryInputs::most_batches()
  std::int64_t steps = 1;                      // optimiser steps of an epoch
  std::shared_ptr<const PlanSection> section;  // null: the strategy adds nothing
  double wide_weight = 0;  // mini-batches: share of the gradient that is for weights with a row per feature
  MachineRates rates;      // rates of one rank while the other ranks work too
  double link_bytes = 0;   // per second, between two ranks
  int threads = 1;
  const Card* card = nullptr;                        // the GPU of each rank; null: ranks compute on CPUs
  double epoch_seconds = 0, evaluation_seconds = 0;  // of the slowest rank
  double total_seconds = 0;                          // of all epochs and their evaluations
  TrafficBytes epoch{}, epoch_between{};             // of all ranks together
  TrafficBytes evaluation{};                         // likewise
  EvaluationParts evaluation_parts{};                // likewise
  // the topology on which times were simulated (simulate/); empty: times follow from rates
  std::string simulated_on;
};

struct PlanOptions {
  int threads = 1;     // of each rank
  MachineRates rates;  // rates of one rank with all its threads
  double link_bytes = 0;
  std::vector<std::string> hosts{};  // by rank; empty: all are on one server
};

/// Pure except for reading sizes of the data set and of the prepared graph.
JobPlan plan_job(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                 const PlanOptions& options);
/// Plans a job that trains on mini-batches, without a prepared graph.
JobPlan plan_job(const Job& job, const Dataset& dataset, const PlanOptions& options);

/// Replaces the predicted epoch's time by a simulated one, and scales the evaluation's time by the same
/// factor.
void enter_simulated(const Job& job, double epoch_seconds, const std::string& topology, JobPlan& plan);

/// A warning where evaluations send a multiple of what epochs send; else "".
std::string costly_evaluations(const JobPlan& plan, const Job& job);
/// A warning where most bytes of mini-batches are gradients of weights with a row per feature; else "".
std::string costly_weight(const JobPlan& plan);

/// The plan for a terminal, and as one JSON object.
std::string to_text(const JobPlan& plan, const Job& job);
std::string to_json(const JobPlan& plan, const Job& job);

// Whether a job's ranks will have the memory that they are planned to hold, and what would help if not.

struct Shortfall {
  /// The job can't run, unless its plan is wrong by more than a tenth, which tests/e2e/plan_and_bench rules
  /// out.
  bool certain = false;
  std::string text;   // one line: what is needed, what there is, what helps
  double needed = 0;  // bytes: all ranks together, or each rank where resources.memory is too little
};

/// Checks the machine's memory for a job whose ranks all run here. `on_gpus`: the ranks train on GPUs; what
/// the GPUs hold takes none of the machine's memory.
std::optional<Shortfall> shortfall_here(const JobPlan& plan, const MemoryRoom& room, bool on_gpus = false);

/// Checks resources.memory, which is per rank. On a cluster, a pod's limit is the sum over the ranks of its
/// server. None where the job doesn't set it.
std::optional<Shortfall> shortfall_of_resources(const JobPlan& plan, const Job& job, bool on_gpus = false);

}  // namespace atl
