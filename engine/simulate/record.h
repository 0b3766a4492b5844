// Runs a job's ranks in this process for a few epochs and records them: the real code on the real graph, with
// real losses.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/local_graph.h"
#include "partition/prepared_graph.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "simulate/rank_notes.h"
#include "simulate/recording.h"

namespace atl {

struct RecordOptions {
  int epochs = 8;                  // from the run's first epoch on, which costs leave out
  int at_once = 1;                 // ranks that compute at the same time
  bool alone = false;              // ranks run by themselves: record_alone()
  int sample = 0;                  // how many ranks record_sample() records alone; 0: all are recorded
  bool modelled = false;           // ranks aren't run: record_modelled()
  int threads = 1;                 // of each rank
  bool rates = false;              // also measure this machine's rates: Recording::rates
  std::vector<std::string> hosts;  // (ranks) the server of each
  PartRanks parts{};
};

/// Records all ranks together. Takes the memory of all ranks, and about ranks · epochs times as long as one
/// rank takes for an epoch.
Recording record_run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const RecordOptions& options);

/// Records ranks by themselves, one after the other, in the memory of `at_once` ranks. Messages arrive empty.
/// So there are no losses, and strategies whose messages depend on arrived contents send other messages than
/// in a run. `said` is called at the end of each rank; may be empty.
Recording record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                       const RecordOptions& options, const std::function<void(Rank)>& said = {});
/// Records only `ranks` alone; `spread`: as in Recording.
std::vector<RankRecording> record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                        const RecordOptions& options, std::span<const Rank> ranks,
                                        double& spread, const std::function<void(Rank)>& said = {});

/// Settles what segments cost. Segments of a rank that do the same work in several epochs get the median of
/// their seconds. Returns the seconds' relative deviation from it, weighted by length. The first epoch, which
/// claims memory, doesn't count. An epoch with more or fewer segments of a layer than others (a strategy that
/// skips an exchange) keeps its own seconds.
double settle_costs(RankRecording& rank);

/// Records `options.sample` ranks, from the one that computes least to the one that computes most. `said` is
/// called at the end of each rank; may be empty.
Recording record_sample(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const RecordOptions& options, DryInputs& inputs,
                        const std::function<void(Rank)>& said = {});

/// Records a job without running any rank. `rates` are those of one rank. Takes milliseconds per rank, and
/// memory for the ids of one rank's rows; for mini-batches as record_modelled_batches(). The caller fills in
/// Recording::works from a plan.
Recording record_modelled(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const RecordOptions& options, const MachineRates& rates);

/// Records a job that trains on mini-batches. Each epoch of the recording is one step. Batches are drawn as
/// in a plan (dry_batches.h). The training of a step is that of its own batch, but the making of a batch,
/// with its messages, is that of a mean batch.
Recording record_modelled_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                  const RecordOptions& options, const MachineRates& rates);

// Records a rank's steps and operations from its sizes alone (plan/dry_run.h). Their costs are modelled, or
// there are none.

/// Records the run's first epochs. Takes milliseconds, and memory for the ids of the rank's rows. A segment
/// takes as long as its kernels would at these rates; `rates` null: costs mean nothing.
RankRecording dry_recording(const DryRunInput& input, int epochs, const MachineRates* rates = nullptr);

// Carries out the operations of a rank that runs by itself: each finishes at once, and messages arrive
// without contents.

/// `hosts` (ranks): the server of each. `notes` notes each operation and outlives the engine. `fills`:
/// whether messages have memory, which is filled with zeros.
std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills);

}  // namespace atl
