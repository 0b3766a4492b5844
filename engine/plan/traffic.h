// Traffic that follows from a job's parts and model by the strategies' byte formulas (job/strategies.h), for
// callers that have no schedule to run dry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "job/layout.h"
#include "model/model.h"
#include "partition/prepared_graph.h"
#include "plan/pair_sizes.h"

namespace atl {

TrafficShape traffic_shape(const Job& job, const Dataset& dataset, const Model& model,
                           const PreparedGraph& prepared);

/// Bytes in an epoch by pair of parts, where each rank trains the part of its own number.
std::vector<PairBytes> part_flows(const Job& job, const Dataset& dataset, const PreparedGraph& prepared);

/// (ranks) the part that each rank trains. Rank and part have the same number where the ranks aren't alike,
/// or where no two of them share a server.
std::vector<int> part_order(const Layout& layout, std::span<const PairBytes> between_parts);

/// What placement needs to know of a job's parts.
struct RankTraffic {
  std::vector<int> parts;        // (ranks) the part that each trains
  std::vector<PairBytes> flows;  // bytes in an epoch, between ranks that train those parts
};

RankTraffic rank_traffic(const Job& job, const Dataset& dataset, const PreparedGraph& prepared);

struct ServerFlows {
  /// Bytes between two servers, both directions together, each named by its lowest rank.
  std::vector<PairBytes> listed;
  /// Bytes between each pair of servers that isn't listed.
  double unlisted = 0;
};

/// Lists at most `most` pairs of servers: all pairs that exchange bytes, if these are few enough. Otherwise
/// the pairs whose bytes differ least from each other share one value, `unlisted`. The sum over all pairs
/// stays the same, to within a byte per pair.
ServerFlows server_flows(const Layout& layout, std::span<const PairBytes> between_ranks, std::size_t most);

// Bytes of the messages that turn an evaluation's logits into metrics (train/evaluation.h), beside the
// forward pass's.

/// How many of a rank's vertices are in each split: training, validation, test.
using ScoredRows = std::array<Index, 3>;
ScoredRows split_counts(const Job& job, const Dataset& dataset, std::span<const VertexId> owned);

/// Bytes that the rank sends. `scored` counts the vertices whose logits the rank has.
std::int64_t metric_bytes(const Job& job, const DatasetMeta& meta, int ranks, Rank rank,
                          const ScoredRows& scored);

/// Bytes that the rank sends for the metrics of pairs (LinkTask::evaluate): rows of the pairs' ends, and all
/// scores to rank 0.
std::int64_t pair_metric_bytes(const Job& job, int ranks, Rank rank, const PairSizes& pairs);

// An evaluation's bytes by content, where exact inference goes by slabs of rows
// (strategies/schedule/layerwise_inference.h). The ledger books them all as Traffic::kEvaluation.

enum class EvaluationPart {
  // the row numbers and arcs of slabs: requested, or pushed to ranks that compute the first layer by columns
  kStructure,
  // rows of other ranks and their ids: features, outputs of layers, or products summed over columns
  kRows,
  kSummands,  // summands of the first layer's product, where features are held by columns; each goes to the
              // row's owner
  kScores,    // attention scores, likewise
  kMetric,    // what metrics are computed from
};
inline constexpr std::array<const char*, 5> kEvaluationPartNames = {"structure", "rows", "summands", "scores",
                                                                    "metric"};
using EvaluationParts = std::array<std::int64_t, kEvaluationPartNames.size()>;  // bytes, by EvaluationPart

}  // namespace atl
