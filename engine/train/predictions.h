// predictions.npy, probabilities.npy and embeddings.npy: one row per vertex, in the data set's original
// vertex ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "dataset/splits.h"
#include "telemetry/link_metrics.h"
#include "tensor/matrix.h"
#include "train/checkpoint/safetensors.h"
#include "train/evaluation.h"

namespace atl {

/// Where a vertex's row goes. Original ids that are a permutation of 0 … vertices − 1 serve as row numbers.
/// Other ids are sorted, and `ids` gives the vertex of each row.
struct VertexOrder {
  Index vertices = 0;
  std::vector<VertexId> row;      // (vertices): row of each of our vertices; empty: the vertex's own number
  std::vector<std::int64_t> ids;  // (vertices): original id of each row; empty: the row's own number
};

/// `original_ids` (vertices); empty: they are our own numbers.
VertexOrder vertex_order(Index vertices, std::span<const std::int64_t> original_ids);

/// A .npy file that is filled rank by rank, so that nobody ever holds all rows. It appears complete at
/// commit().
class VertexRowsFile {
 public:
  enum class Content {
    kClass,    // int32 (vertices): the column of the largest logit, the first of equal ones
    kClasses,  // uint8 (vertices, columns): 1 where the logit is above 0 (multi-label)
    kValues,   // float32 (vertices, columns): embeddings
    kShares,   // float32 (vertices, columns): each class's probability, the softmax of the logits
    kChances,  // float32 (vertices, columns): each label's probability, the logit's sigmoid (multi-label)
  };

  /// `order` must outlive the file.
  VertexRowsFile(const std::filesystem::path& path, const VertexOrder& order, Index columns, Content content);
  /// Row i of `rows` (n, columns) belongs to our vertex vertices[i]. Every vertex is put once over all calls.
  void put(std::span<const VertexId> vertices, ConstMatrixView rows);
  void commit();

 private:
  const VertexOrder& order_;
  Index columns_, row_bytes_, header_bytes_ = 0, filled_ = 0;
  Content content_;
  AtomicFile file_;
};

/// Removes everything that predictions leave in a folder, pair_scores.npy too, except a file named `but`.
/// Called before the first of these files is written: another model or data set may leave fewer of them.
void remove_predictions(const std::filesystem::path& folder, std::string_view but = "");

/// Writes vertex_ids.npy, int64 (vertices), or, where order.ids is empty, removes an older one.
void write_vertex_ids(const std::filesystem::path& path, const VertexOrder& order);

// predicted_labels.npy: predictions as the source's labels, where these aren't the classes' numbers
// (DatasetMeta::class_names). The model keeps the labels, for data sets without any.

/// Adds them under the keys "atoll.class.0", …
void add_class_names(std::span<const std::string> names, Metadata& metadata);
/// Empty: the classes have no names.
std::vector<std::string> class_names_of(const Metadata& metadata);

/// Writes `folder`/predicted_labels.npy from its predictions.npy: int64 if all names are whole numbers,
/// otherwise text. Without names it writes nothing, and removes the file of an earlier run.
void write_predicted_labels(const std::filesystem::path& folder, std::span<const std::string> names);

// Predictions of a trained model on a data set: its own, or another one with the same features.

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
