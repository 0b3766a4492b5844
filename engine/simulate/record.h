// Runs a job's ranks in this process for a few epochs and records them: the real code on the real graph, with
// real losses.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/part_ranks.h"
#include "partition/prepared_graph.h"
#include "plan/batch_source.h"
#include "plan/dry_input.h"
#include "simulate/recording.h"

namespace atl {

struct RecordOptions {
  int epochs = 8;                  // from the run's first one; costs are those of all but that one
  int at_once = 1;                 // ranks that compute at the same time
  bool alone = false;              // each rank by itself, one after the other: record_alone()
  int sample = 0;                  // of them, so many: record_sample(); 0: all
  bool modelled = false;           // none is run: record_modelled()
  int threads = 1;                 // of each rank
  bool rates = false;              // measure those of kernels here, too: Recording::rates
  std::vector<std::string> hosts;  // (ranks) the server of each
  PartRanks parts{};
};

/// Takes the memory of all ranks, and about ranks · epochs · an epoch's time of a rank.
Recording record_run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const RecordOptions& options);

/// The same of ranks by themselves, one after the other: takes the memory of `at_once` of them. Their
/// messages are empty, so that there are no losses, and strategies that send what depends on what came are
/// others' than a run's. `said` is told of each rank's end; may be empty.
Recording record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                       const RecordOptions& options, const std::function<void(Rank)>& said = {});
/// Some ranks alone; `spread`: as in a Recording.
std::vector<RankRecording> record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                        const RecordOptions& options, std::span<const Rank> ranks,
                                        double& spread, const std::function<void(Rank)>& said = {});

/// Segments of a rank that do the same work in several epochs get the median of their seconds; returns by how
/// much they differed from it, relative, weighted by length. The first epoch, which claims memory, doesn't
/// count. Where an epoch has more or fewer segments of a layer than others (a strategy that skips an
/// exchange), it keeps its own.
double settle_costs(RankRecording& rank);

/// `options.sample` ranks, from the one with least to compute to the one with most. `said` is told of each
/// one's end; may be empty.
Recording record_sample(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const RecordOptions& options, DryInputs& inputs,
                        const std::function<void(Rank)>& said = {});

/// `rates`: of a rank. Takes milliseconds a rank, and memory for the ids of one rank's rows; of mini-batches
/// as record_modelled_batches(). Recording::works is left to whoever has a plan.
Recording record_modelled(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const RecordOptions& options, const MachineRates& rates);

/// Of a job that trains on mini-batches: each epoch of the recording is one step. Batches are drawn as in a
/// plan (dry_batches.h); training on each is its own, and making them, and their messages, are those of a
/// mean one.
Recording record_modelled_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                  const RecordOptions& options, const MachineRates& rates);

}  // namespace atl
