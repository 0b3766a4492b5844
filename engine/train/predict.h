// Predictions of a trained model on a data set, the one it was trained on or another with the same features.
#pragma once

#include <filesystem>

#include "train/evaluation.h"

namespace atl {

struct PredictOptions {
  std::filesystem::path model;    // a run's output folder
  std::filesystem::path dataset;  // a data set's folder
  std::filesystem::path output;   // predictions.npy and embeddings.npy go here; made if it doesn't exist
  int threads = 1;
};

/// Exact inference over the whole graph in this process; returns the metrics of the job's split. Throws Error where
/// the model doesn't fit the data set.
Evaluation predict(const PredictOptions& options);

}  // namespace atl
