// Predictions of a trained model on a data set: its own, or another one with the same features.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dataset/splits.h"
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
  // pairs of vertices for a model of link prediction to score, into pair_scores.npy; empty: none
  std::filesystem::path pairs;
};

struct Predicted {
  /// By the job's split; without it in the data set, every labelled vertex counts as a test vertex. Empty
  /// where no label is known, or labels aren't the model's.
  Evaluation metrics;
  std::optional<LinkMetrics> links;  // of the test pairs, with task linkPrediction
  std::string metric;                // the metric's title
  bool by_split = true;
  std::vector<std::string> warnings;  // one line for each reason to doubt the predictions, or the metrics
};

/// Exact inference over the whole graph in this process. Throws Error where the model doesn't fit the data
/// set.
Predicted predict(const PredictOptions& options);

/// .npy (pairs, 2) of integers, or text, gzipped or not, with two ids per line, separated by spaces, tabs or
/// a comma; # begins a comment. Ids are the source's (Dataset::original_ids). Throws Error naming the row or
/// line of an id that the data set doesn't have.
std::vector<VertexPair> read_pair_file(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace atl
