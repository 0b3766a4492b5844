// The record of a training run, as plain values. The loop fills them in, and all that a user sees (progress,
// --json, metrics.jsonl, the metrics endpoint, report.html) is made from them alone.
#pragma once

#include <fmt/format.h>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/members.h"
#include "base/types.h"
#include "strategies/dgs/figures.h"
#include "strategies/schedule/batch_counts.h"
#include "telemetry/link_metrics.h"

namespace atl {

/// Seconds of one named phase of the work: "compute", "communication" (exposed: the compute thread stood
/// waiting), "batch wait" (for the sampler), "evaluation", "checkpoint", … The phases of an epoch or run
/// don't overlap.
struct Phase {
  std::string name;
  double seconds = 0;
};

/// 0 where no phase has that name.
double seconds_of_phase(const std::vector<Phase>& phases, const std::string& name);

/// Bytes that one rank sent over one class of links for one purpose (link_name() and traffic_name() of
/// comm/ledger.h).
struct LinkTraffic {
  std::string link, purpose;
  std::int64_t bytes = 0;

  static constexpr auto members() {
    return std::tuple{Key{"link", &LinkTraffic::link}, Key{"purpose", &LinkTraffic::purpose},
                      Key{"bytes", &LinkTraffic::bytes}};
  }
};

/// Bytes by class of links.
struct LinkBytes {
  std::int64_t intra = 0, inter = 0;

  static constexpr auto members() {
    return std::tuple{Key{"intra", &LinkBytes::intra}, Key{"inter", &LinkBytes::inter}};
  }
};

/// The figures of an epoch that only the rank itself knows.
struct RankSample {
  std::vector<Phase> phases;
  std::vector<LinkTraffic> traffic;
  std::int64_t resident_bytes = 0;
  double communication_seconds = 0;    // in training: a message was under way, waited for or not
  double progress_cpu_seconds = 0;     // CPU seconds of the communicating thread in training
  std::optional<BatchCounts> batches;  // in this epoch, where the strategy has batches

  static constexpr auto members() {
    return std::tuple{Key{"phases", &RankSample::phases},
                      Key{"traffic", &RankSample::traffic},
                      Key{"residentBytes", &RankSample::resident_bytes},
                      Key{"communicationSeconds", &RankSample::communication_seconds, Presence::kNewer},
                      Key{"progressCpuSeconds", &RankSample::progress_cpu_seconds, Presence::kNewer},
                      Key{"batches", &RankSample::batches, Presence::kNewer}};
  }
};

/// Where one rank's time goes in an epoch of training: medians over steady_epochs().
struct TypicalEpoch {
  double epoch_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;        // communication that the compute thread stood waiting for
  double communication_seconds = 0;  // communication, whether hidden or not
  double progress_cpu_seconds = 0;

  static constexpr auto members() {
    return std::tuple{Key{"epochSeconds", &TypicalEpoch::epoch_seconds},
                      Key{"computeSeconds", &TypicalEpoch::compute_seconds},
                      Key{"exposedCommunicationSeconds", &TypicalEpoch::exposed_seconds},
                      Key{"communicationSeconds", &TypicalEpoch::communication_seconds},
                      Key{"progressCpuSeconds", &TypicalEpoch::progress_cpu_seconds}};
  }
};

/// How far a layer's stale values were from the true ones: the norm of the difference over the norm of the
/// true values.
struct Staleness {
  int layer = 0;  // from 0
  double rows = 0, gradients = 0;

  static constexpr auto members() {
    return std::tuple{Key{"layer", &Staleness::layer}, Key{"rows", &Staleness::rows},
                      Key{"gradients", &Staleness::gradients}};
  }
};

/// One epoch. All but `own` is the same on every rank.
struct EpochRecord {
  Index epoch = 0;                                // from 1: epochs completed
  double loss = 0;                                // mean over all training vertices
  std::optional<double> train, validation, test;  // the run's metric, a fraction 0 … 1, where evaluated
  std::optional<double> validation_loss;
  double learning_rate = 0;
  double epoch_seconds = 0;          // training alone: no evaluation, no checkpoint
  RankSample own;                    // this rank's figures; metrics.jsonl has rank 0's
  std::vector<Staleness> staleness;  // of the epoch before: this epoch's values reveal it
  LinkBytes bytes;                   // sent by all ranks in this epoch

  static constexpr auto members() {
    return std::tuple{Key{"epoch", &EpochRecord::epoch},
                      Key{"loss", &EpochRecord::loss},
                      Key{"train", &EpochRecord::train},
                      Key{"validation", &EpochRecord::validation},
                      Key{"test", &EpochRecord::test},
                      Key{"validationLoss", &EpochRecord::validation_loss},
                      Key{"learningRate", &EpochRecord::learning_rate},
                      Key{"epochSeconds", &EpochRecord::epoch_seconds},
                      Key{"", &EpochRecord::own},
                      Key{"lateness", &EpochRecord::staleness, Presence::kIfAny},
                      Key{"bytes", &EpochRecord::bytes}};
  }
};

/// When a stage of a pipeline worked on a chunk: seconds since any stage's first work in the epoch.
struct ChunkWork {
  int chunk = 0;
  double forward_begin = 0, forward_end = 0, backward_begin = 0, backward_end = 0;

  static constexpr auto members() {
    return std::tuple{&ChunkWork::chunk, &ChunkWork::forward_begin, &ChunkWork::forward_end,
                      &ChunkWork::backward_begin, &ChunkWork::backward_end};
  }
};

/// One epoch of a pipeline.
struct PipelineEpoch {
  Index epoch = 0;
  // share of all ranks' time, between the first and the last work, in which they were idle
  double bubble = 0;
  std::vector<int> convolutions;               // (stages) how many of the stage's layers read neighbours
  std::vector<std::vector<ChunkWork>> stages;  // (stages, chunks or groups of them) in the epoch's order

  static constexpr auto members() {
    return std::tuple{Key{"epoch", &PipelineEpoch::epoch}, Key{"bubble", &PipelineEpoch::bubble},
                      Key{"convolutions", &PipelineEpoch::convolutions},
                      Key{"stages", &PipelineEpoch::stages}};
  }
};

/// Test vertices by class: entry (t, p) counts the vertices of class t that were predicted as p.
struct ConfusionMatrix {
  int classes = 0;                   // 0: none (multi-label, or too many)
  std::vector<std::int64_t> counts;  // (classes, classes)

  static constexpr auto members() {
    return std::tuple{Key{"classes", &ConfusionMatrix::classes}, Key{"counts", &ConfusionMatrix::counts}};
  }
};

/// Where the run took place, on what data and with which settings.
struct RunSetting {
  std::string name;      // metadata.name
  std::string job_yaml;  // the manifest as run, defaults filled in
  std::string dataset, dataset_checksum;
  Index vertices = 0, arcs = 0, features = 0;
  int classes = 0;
  std::string model, strategy, metric, partitioner;
  Index parameters = 0;
  Index epochs = 0;                // number of epochs asked for
  int ranks = 1, threads = 1;      // threads of each rank
  std::vector<std::string> hosts;  // (ranks): the server each sits on
  std::vector<std::string> cpus;   // (ranks): "0-3", the processors its threads are bound to; "": none
  std::map<std::string, std::string> versions;  // atoll, compiler, mpi, …
  std::string machine;                          // processor, cores, memory: one line
  std::string output;                           // folder

  static constexpr auto members() {
    return std::tuple{Key{"name", &RunSetting::name},
                      Key{"dataset", &RunSetting::dataset},
                      Key{"datasetChecksum", &RunSetting::dataset_checksum},
                      Key{"vertices", &RunSetting::vertices},
                      Key{"arcs", &RunSetting::arcs},
                      Key{"features", &RunSetting::features},
                      Key{"classes", &RunSetting::classes},
                      Key{"model", &RunSetting::model},
                      Key{"parameters", &RunSetting::parameters},
                      Key{"strategy", &RunSetting::strategy},
                      Key{"partitioner", &RunSetting::partitioner},
                      Key{"metric", &RunSetting::metric},
                      Key{"epochs", &RunSetting::epochs},
                      Key{"ranks", &RunSetting::ranks},
                      Key{"threads", &RunSetting::threads},
                      Key{"hosts", &RunSetting::hosts},
                      Key{"versions", &RunSetting::versions},
                      Key{"machine", &RunSetting::machine},
                      Key{"output", &RunSetting::output},
                      Key{"jobYaml", &RunSetting::job_yaml},
                      Key{"cpus", &RunSetting::cpus, Presence::kNewer}};
  }
};

/// A whole run. Its last block is filled in when on_result() is called.
struct RunRecord {
  RunSetting setting;
  Index resumed_from = 0;           // epochs that were done before this start; 0 = from the beginning
  Index resumed_steps = 0;          // steps of the next epoch that were done before
  std::vector<EpochRecord> epochs;  // also those before a resume

  std::string outcome;                     // "" while running; completed | stopped early | interrupted
  Index best_epoch = 0;                    // 0: never evaluated
  std::optional<double> validation, test;  // of best_epoch's weights
  double epoch_seconds_median = 0;
  double startup_seconds = 0;  // from process start to the first epoch: load, partition, distribute
  std::vector<std::int64_t> peak_memory_bytes;  // (ranks)
  // The following count from this start, without what an earlier run took.
  std::vector<std::int64_t> bytes_by_pair;         // (ranks, ranks): row sent to column; may be empty
  std::vector<std::vector<Phase>> phases_by_rank;  // (ranks): the same names in the same order
  std::vector<TypicalEpoch> typical_by_rank;       // (ranks)
  std::vector<LinkTraffic> training_traffic;       // sent by all ranks, in all epochs since this start
  std::optional<PipelineEpoch> pipeline;    // the last epoch of a strategy with stages; on rank 0 alone
  std::vector<ExplainedFigures> explained;  // (ranks), with a strategy that explains; otherwise empty
  ConfusionMatrix confusion;                // of the test vertices
  std::optional<LinkMetrics> links;         // of the test pairs, with task linkPrediction

  /// All members but the epochs, which are in a file of their own.
  static constexpr auto members() {
    return std::tuple{Key{"setting", &RunRecord::setting},
                      Key{"resumedFrom", &RunRecord::resumed_from},
                      Key{"outcome", &RunRecord::outcome},
                      Key{"bestEpoch", &RunRecord::best_epoch},
                      Key{"validation", &RunRecord::validation},
                      Key{"test", &RunRecord::test},
                      Key{"epochSecondsMedian", &RunRecord::epoch_seconds_median},
                      Key{"startupSeconds", &RunRecord::startup_seconds},
                      Key{"peakMemoryBytes", &RunRecord::peak_memory_bytes},
                      Key{"bytesByPair", &RunRecord::bytes_by_pair},
                      Key{"phasesByRank", &RunRecord::phases_by_rank},
                      Key{"typicalEpochByRank", &RunRecord::typical_by_rank, Presence::kNewer},
                      Key{"trainingTraffic", &RunRecord::training_traffic, Presence::kNewer},
                      Key{"resumedSteps", &RunRecord::resumed_steps, Presence::kNewer},
                      Key{"pipeline", &RunRecord::pipeline, Presence::kNewer},
                      Key{"explained", &RunRecord::explained, Presence::kNewer},
                      Key{"confusion", &RunRecord::confusion},
                      Key{"links", &RunRecord::links, Presence::kIfAny}};
  }
};

/// The epochs that show what an epoch in a long run takes. The first epoch since the start isn't one of them:
/// it allocates memory, and no transfers are under way yet. Nor is an epoch that follows an evaluation or a
/// checkpoint, during which transfers ended unseen.
std::vector<const EpochRecord*> steady_epochs(const std::vector<EpochRecord>& epochs, Index resumed_from);

/// The median: the mean of the two middle values where the number of values is even; 0 without values.
double median(std::vector<double> values);

/// Says that the last epoch's loss is far above the first one's; "" where it isn't.
std::string divergence(const std::vector<EpochRecord>& epochs);

/// Median of epoch_seconds; 0 without epochs.
double median_epoch_seconds(const std::vector<EpochRecord>& epochs);

// How far a run has come.

struct Reached {
  Index epochs = 0;  // completed
  Index steps = 0;   // steps of the epoch after these
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
