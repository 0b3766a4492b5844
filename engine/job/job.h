// What a manifest asks for, as plain values: no YAML, no MPI, no CUDA. Defaults here are the manifest's. The
// field table (fields.h) gives each member its name, unit, range and source, and load.h fills a Job from a
// file. Where a name differs in the manifest, a comment gives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/options.h"

namespace atl {

/// A generated graph instead of a stored one.
struct SyntheticSpec {
  std::string kind;    // "" = use dataset.name; else "community"
  std::string preset;  // "" | reddit | products | yelp | flickr: sets all numbers below that aren't given
  double scale = 1;    // factor on the preset's vertices
  std::int64_t vertices = 0;
  double average_degree = 0;  // arcs per vertex
  std::int64_t features = 0;
  std::int64_t classes = 0;
  double homophily = -1;    // share of arcs between equal classes; below 0 = the preset's, or 0.7
  double train_share = -1;  // share of the vertices that train; below 0 = the preset's, or 0.5
  std::uint64_t seed = 1;
  bool operator==(const SyntheticSpec&) const = default;
};

/// What happens to self-loops. kModel: what the model's definition requires (graph_needs() in model/model.h).
enum class SelfLoops { kModel, kKeep, kAdd, kRemove };
enum class NormaliseFeatures { kNone, kRow };

struct DatasetSpec {
  std::string name;  // folder under the data root; empty with synthetic
  std::string split = "default";
  int split_column = 0;
  bool symmetrise = false;
  SelfLoops self_loops = SelfLoops::kModel;
  NormaliseFeatures normalise_features = NormaliseFeatures::kNone;
  SyntheticSpec synthetic;
  std::string volume, prepared;  // JSON of pod volume sources; only the operator reads them
  bool operator==(const DatasetSpec&) const = default;
};

enum class Task { kNodeClassification, kLinkPrediction };
enum class DecoderKind { kDot, kMlp };
enum class LinkMetric { kRocAuc, kAveragePrecision, kHits, kMrr };

/// Read only with Task::kLinkPrediction.
struct LinkSpec {
  DecoderKind decoder = DecoderKind::kDot;
  int decoder_layers = 2;  // decoderLayers: only with kMlp
  int negatives = 1;       // drawn pairs per training edge
  LinkMetric metric = LinkMetric::kRocAuc;
  int hits_at = 50;  // hitsAt: only with kHits
  bool operator==(const LinkSpec&) const = default;
};

enum class Norm { kNone, kLayer, kBatch };

struct ModelSpec {
  std::string kind;  // a name in models.h
  int layers = 2;    // convolutions
  int hidden = 64;
  Norm norm = Norm::kNone;
  bool skip_connections = false;  // skipConnections: add a layer's input to its output where widths agree
  int dense_layers = 0;  // denseLayers: trailing linear layers after the convolutions (PipeGCN's Yelp: 2)
  Options options;       // options of this kind of model
  bool operator==(const ModelSpec&) const = default;
};

enum class OptimizerKind { kAdam, kAdamW, kSgd };

/// Weight decay by group of parameters. A single number in the manifest sets convolutions and dense.
struct WeightDecay {
  double convolutions = 0;
  double dense = 0;
  double first_layer = -1;  // firstLayer: the first layer with weights; below 0 = as its group
  bool operator==(const WeightDecay&) const = default;
};

struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdam;
  double learning_rate = 0.01;
  WeightDecay weight_decay;
  double momentum = 0;                                // sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw
  double clip_norm = 0;  // clipNorm: largest 2-norm of the whole gradient; 0 = off
  bool operator==(const OptimizerSpec&) const = default;
};

enum class ScheduleKind { kConstant, kCosine, kStep };

struct ScheduleSpec {
  ScheduleKind kind = ScheduleKind::kConstant;
  int warmup_epochs = 0;  // linear from 0 to learningRate
  int step_epochs = 100;  // step: epochs after which the rate is multiplied by `factor`
  double factor = 0.5;
  double minimum = 0;  // cosine: learning rate at the last epoch
  bool operator==(const ScheduleSpec&) const = default;
};

enum class Setting { kTransductive, kInductive };
enum class Loss { kCrossEntropy, kBinaryCrossEntropy };
enum class Metric { kAccuracy, kF1Micro, kF1Macro, kRocAuc };
enum class DropoutPosition { kBeforeAggregation, kAfterAggregation };

struct InputDropoutSpec {
  double rate = 0;
  DropoutPosition position = DropoutPosition::kBeforeAggregation;
  bool operator==(const InputDropoutSpec&) const = default;
};

/// The metric that decides which epoch is best, and when training stops early.
enum class StopMetric { kValidationMetric, kValidationLoss };

struct EarlyStoppingSpec {
  int patience = 0;                                   // epochs without improvement; 0 = never stop early
  StopMetric metric = StopMetric::kValidationMetric;  // it also chooses the best epoch
  bool operator==(const EarlyStoppingSpec&) const = default;
};

struct CheckpointSpec {
  int every = 50;       // epochs; 0 = only when stopped and at the end
  int every_steps = 0;  // mini-batches; 0 = none within an epoch
  int keep = 2;
  bool operator==(const CheckpointSpec&) const = default;
};

enum class Precision { kFloat32, kBFloat16 };
enum class Recompute { kNone, kLayer };

struct TrainingSpec {
  int epochs = 200;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;  // learningRateSchedule
  Setting setting = Setting::kTransductive;
  Loss loss = Loss::kCrossEntropy;
  Metric metric = Metric::kAccuracy;
  double dropout = 0.5;  // on the inputs of hidden layers
  InputDropoutSpec input_dropout;
  double attention_dropout = 0;  // gat: on attention coefficients
  std::uint64_t seed = 1;
  int evaluate_every = 1;  // epochs
  EarlyStoppingSpec early_stopping;
  CheckpointSpec checkpoint;
  Precision precision = Precision::kFloat32;
  bool deterministic = true;  // gradients are summed over ranks in the order of ranks
  Recompute recompute = Recompute::kNone;
  bool operator==(const TrainingSpec&) const = default;
};

struct StrategyInfo;
/// The strategy of a job that names none: the table's first row (strategies.h).
const StrategyInfo& default_strategy();

struct StrategySpec {
  const StrategyInfo* row = &default_strategy();  // strategy.kind: its row in strategies.h, never null
  Options options;                                // the options of `row`, such as overlap for graph
  Precision wire = Precision::kFloat32;           // how values are written while they travel between ranks
  bool operator==(const StrategySpec&) const = default;
};

struct PartitionerSpec {
  std::string kind = "metis";  // metis | hash | range
  std::uint64_t seed = 1;
  std::string objective = "volume";  // metis: volume | cut
  int parts = 0;                     // 0 = one per rank
  bool operator==(const PartitionerSpec&) const = default;
};

enum class PlacementPolicy { kRequired, kPreferred };

struct PlacementSpec {
  int ranks = 1;
  int ranks_per_server = 0;  // 0 = as the strategy's layout requires
  PartitionerSpec partitioner;
  std::vector<std::string> topology_levels;  // coarsest first; empty = kubernetes.io/hostname
  std::vector<double> level_weights;         // cost of a byte that crosses each level
  std::string within;  // one domain of this topology level must hold all ranks; empty = the cluster
  PlacementPolicy policy = PlacementPolicy::kRequired;
  bool operator==(const PlacementSpec&) const = default;
};

/// Resources per rank; 0 = not given.
struct ResourcesSpec {
  double cpu = 0;                  // cores
  std::int64_t memory = 0;         // bytes
  int gpus = 0;                    // nvidia.com/gpu
  std::int64_t shared_memory = 0;  // bytes of /dev/shm; only the operator reads it
  bool operator==(const ResourcesSpec&) const = default;
};

struct OutputSpec {
  std::string volume;  // JSON of a pod volume source; only the operator reads it
  std::string path;    // default: metadata.name
  bool operator==(const OutputSpec&) const = default;
};

enum class CleanPodPolicy { kRunning, kAll, kNone };

/// Only the operator reads it.
struct RunPolicySpec {
  bool suspend = false;
  int backoff_limit = 3;
  int max_disruptions = 100;                     // 0 = no limit
  std::int64_t active_deadline_seconds = 0;      // 0 = none
  std::int64_t ttl_seconds_after_finished = -1;  // −1 = never deleted
  CleanPodPolicy clean_pod_policy = CleanPodPolicy::kRunning;
  std::int64_t start_deadline_seconds = 600;
  std::int64_t prepare_deadline_seconds = 86400;
  std::int64_t progress_deadline_seconds = 1800;
  bool operator==(const RunPolicySpec&) const = default;
};

enum class Launcher { kAtoll, kMpiJob };

/// One GNNJob. load_job() (load.h) returns it complete and consistent.
struct Job {
  std::string name;      // metadata.name
  std::string metadata;  // the whole metadata as JSON; only the operator reads it
  DatasetSpec dataset;
  Task task = Task::kNodeClassification;
  LinkSpec links;  // linkPrediction
  ModelSpec model;
  TrainingSpec training;
  StrategySpec strategy;
  PlacementSpec placement;
  ResourcesSpec resources;
  OutputSpec output;
  RunPolicySpec run_policy;
  Launcher launcher = Launcher::kAtoll;
  std::string image;      // default: the chart's
  std::string template_;  // JSON of a partial pod template; only the operator reads it
  /// The precision in which rows and gradients travel in training. Values stored in 16 bits also travel in 16
  /// bits.
  Precision wire() const {
    return training.precision == Precision::kBFloat16 ? Precision::kBFloat16 : strategy.wire;
  }
  bool operator==(const Job&) const = default;
};

}  // namespace atl
