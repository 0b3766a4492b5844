// What a job's epochs would take on servers that are told, without running any: for choosing among strategies.
#pragma once

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "simulate/simulation.h"
#include "tensor/rates.h"

namespace atl {

struct Forecast {
  SimulatedRow row;  // of an epoch
  Index peak = 0;    // bytes, of the rank that needs most
  double steps = 1;  // optimiser steps of an epoch
  double sent() const { return row.bytes_inside + row.bytes_between; }
};

/// Messages are exact, or those of batches that are drawn as in training; computing is a model, at `rates` of a rank (record_modelled.h). With
/// task linkPrediction, scoring pairs isn't modelled: an epoch is the plan's (job_plan.h). Takes milliseconds a rank and a few
/// drawn batches.
Forecast forecast(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Topology& topology, const MachineRates& rates, int threads);

/// Where nobody has described the servers: joined by links of `link` bytes a second, with latencies and costs as the rig has them
/// (docs/rig.md). `hosts` (ranks): the server of each. `rates`: of a rank.
Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads);

}  // namespace atl
