// Predictions of a trained model on a data set, the one it was trained on or another with the same features.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dataset/edge_split.h"
#include "telemetry/link_metrics.h"
#include "train/evaluation.h"

namespace atl {

struct PredictOptions {
  std::filesystem::path model;     // a run's output folder
  std::filesystem::path dataset;   // a data set's folder; needs neither labels nor splits
  std::filesystem::path prepared;  // as Dataset::open()'s `elsewhere`
  std::filesystem::path output;    // predictions.npy and embeddings.npy go here; made if it doesn't exist
  int threads = 1;
  bool probabilities = false;  // probabilities.npy too
  // of vertices, which a model of link prediction scores: pair_scores.npy; empty: none
  std::filesystem::path pairs;
};

struct Predicted {
  /// By the job's split; where the data set hasn't got it, every labelled vertex counts as a test vertex.
  /// Empty where no label is known, or labels aren't those of the model.
  Evaluation metrics;
  std::optional<LinkMetrics> links;  // of the test pairs, with task linkPrediction
  std::string metric;                // its title
  bool by_split = true;
  std::vector<std::string> warnings;  // a line for what makes the predictions, or the metrics, doubtful
};

/// Exact inference over the whole graph in this process. Throws Error where the model doesn't fit the data
/// set.
Predicted predict(const PredictOptions& options);

/// .npy (pairs, 2) of integers, or text, gzipped or not, with two ids per line, separated by spaces, tabs or
/// a comma; # begins a comment. Ids are the source's (Dataset::original_ids). Throws Error naming the row or
/// line of an id that the data set doesn't have.
std::vector<VertexPair> read_pair_file(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace atl
