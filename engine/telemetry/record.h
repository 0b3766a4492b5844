// What a training run tells about itself, as plain values: the loop fills them, and everything that a user
// sees (progress, --json, metrics.jsonl, the metrics endpoint, report.html) is made from them and nothing
// else.
#pragma once

#include <fmt/format.h>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "strategies/dgs/figures.h"
#include "strategies/schedule/batch_counts.h"
#include "telemetry/link_metrics.h"

namespace atl {

/// Seconds of one named part of the work: "compute", "communication" (exposed: the compute thread stood
/// waiting), "batch wait" (for the sampler), "evaluation", "checkpoint", … The parts of an epoch or run don't
/// overlap.
struct Phase {
  std::string name;
  double seconds = 0;
};

/// 0 where there is none of that name.
double seconds_of_phase(const std::vector<Phase>& phases, const std::string& name);

/// Bytes that one rank sent over one class of links for one purpose (link_name() and traffic_name() of
/// comm/ledger.h).
struct LinkTraffic {
  std::string link, purpose;
  std::int64_t bytes = 0;
};

/// What one rank knows of itself alone, in one epoch.
struct RankSample {
  std::vector<Phase> phases;
  std::vector<LinkTraffic> traffic;
  std::int64_t resident_bytes = 0;
  double communication_seconds = 0;    // of training, in which something was under way, waited for or not
  double progress_cpu_seconds = 0;     // of training: processor time of the thread that communicates
  std::optional<BatchCounts> batches;  // of a strategy that has them, in this epoch
};

/// Where one rank's time goes in an epoch of training: medians over steady_epochs().
struct TypicalEpoch {
  double epoch_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;        // communication that the compute thread stood waiting for
  double communication_seconds = 0;  // hidden or not
  double progress_cpu_seconds = 0;
};

/// Of one layer, how far what came late was from what it stood for: norm of the difference over norm of the
/// latter.
struct Staleness {
  int layer = 0;  // from 0
  double rows = 0, gradients = 0;
};

/// One epoch. All but `own` is the same on every rank.
struct EpochRecord {
  Index epoch = 0;                                // from 1: epochs completed
  double loss = 0;                                // mean over all training vertices
  std::optional<double> train, validation, test;  // the run's metric, a fraction 0 … 1, where evaluated
  std::optional<double> validation_loss;
  double learning_rate = 0;
  double epoch_seconds = 0;                       // training alone: no evaluation, no checkpoint
  std::int64_t bytes_intra = 0, bytes_inter = 0;  // sent by all ranks in this epoch
  std::vector<Staleness> staleness;               // of the epoch before, where it has shown in this one
  RankSample own;                                 // this rank's; rank 0's in metrics.jsonl
};

/// When a stage of a pipeline worked on a chunk: seconds since any stage's first work in the epoch.
struct ChunkWork {
  int chunk = 0;
  double forward_begin = 0, forward_end = 0, backward_begin = 0, backward_end = 0;
};

/// One epoch of a pipeline.
struct PipelineEpoch {
  Index epoch = 0;
  // share of all ranks' time, from the first work to the last, in which they worked on no chunk
  double bubble = 0;
  std::vector<int> convolutions;               // (stages) layers of each that read neighbours
  std::vector<std::vector<ChunkWork>> stages;  // (stages, chunks) in the epoch's order; many chunks in groups
};

/// Test vertices by class: entry (t, p) counts those of class t that were predicted as p.
struct ConfusionMatrix {
  int classes = 0;                   // 0: none (multi-label)
  std::vector<std::int64_t> counts;  // (classes, classes)
};

/// Where the run took place and on what.
struct RunSetting {
  std::string name;      // metadata.name
  std::string job_yaml;  // the manifest as run, defaults filled in
  std::string dataset, dataset_checksum;
  Index vertices = 0, arcs = 0, features = 0;
  int classes = 0;
  std::string model, strategy, metric, partitioner;
  Index parameters = 0;
  Index epochs = 0;                // asked for
  int ranks = 1, threads = 1;      // threads of each rank
  std::vector<std::string> hosts;  // (ranks): the server each sits on
  std::vector<std::string> cpus;   // (ranks): "0-3", those that its threads are bound to; "": to none
  std::map<std::string, std::string> versions;  // atoll, compiler, mpi, openblas, …
  std::string machine;                          // processor, cores, memory: one line
  std::string output;                           // folder
};

/// A whole run: complete at on_result(), without its last block before.
struct RunRecord {
  RunSetting setting;
  Index resumed_from = 0;           // epochs that were done before this start; 0 = from the beginning
  Index resumed_steps = 0;          // and steps of the next one
  std::vector<EpochRecord> epochs;  // those before a resume too

  std::string outcome;                     // "" while running; completed | stopped early | interrupted
  Index best_epoch = 0;                    // 0: never evaluated
  std::optional<double> validation, test;  // of best_epoch's weights
  double epoch_seconds_median = 0;
  double startup_seconds = 0;                   // process start to first epoch: load, partition, distribute
  std::vector<std::int64_t> peak_memory_bytes;  // (ranks)
  std::vector<std::int64_t> bytes_by_pair;      // (ranks, ranks): row sent to column, whole run; may be empty
  std::vector<std::vector<Phase>> phases_by_rank;  // (ranks): whole run; the same names in the same order
  std::vector<TypicalEpoch> typical_by_rank;       // (ranks)
  std::vector<LinkTraffic> training_traffic;       // sent by all ranks, in all epochs since this start
  std::optional<PipelineEpoch> pipeline;           // of a strategy with stages: the last epoch; on rank 0
  std::vector<ExplainedFigures> explained;         // (ranks) of a strategy that explains; else empty
  ConfusionMatrix confusion;                       // of the test vertices
  std::optional<LinkMetrics> links;                // of the test pairs, with task linkPrediction
};

/// Epochs that show what one takes among many: not the first since the start, which claims memory and finds
/// nothing under way, and none that follows an evaluation or a checkpoint, in which what was under way ended
/// unseen.
std::vector<const EpochRecord*> steady_epochs(const std::vector<EpochRecord>& epochs, Index resumed_from);

/// Mean of the two middle ones of an even number; 0 of none.
double median(std::vector<double> values);

/// How the loss of the last epoch stands to the first one's where it has grown far above that; "" where it
/// hasn't.
std::string divergence(const std::vector<EpochRecord>& epochs);

/// The middle epoch_seconds (mean of the two middle ones); 0 without epochs.
double median_epoch_seconds(const std::vector<EpochRecord>& epochs);

// How far a run has come.

struct Reached {
  Index epochs = 0;  // completed
  Index steps = 0;   // of the epoch after them
  bool operator==(const Reached&) const = default;
  std::strong_ordering operator<=>(const Reached& other) const {
    return epochs != other.epochs ? epochs <=> other.epochs : steps <=> other.steps;
  }
};

/// "epoch 3", "step 12 of epoch 4".
inline std::string reached_text(const Reached& r) {
  return r.steps == 0 ? fmt::format("epoch {}", r.epochs)
                      : fmt::format("step {} of epoch {}", r.steps, r.epochs + 1);
}

}  // namespace atl
