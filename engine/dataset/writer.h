// Writes a data set; importers and the generator all use it. Hand over the parts in any order, arcs and
// features in any number of pieces, then call finish(). It checks that the parts agree, sorts arcs into rows
// by destination, removes duplicates, writes files, checksums and meta.json, and puts the folder in its place
// in one step. An exception before that leaves nothing behind. The bytes don't depend on the number of
// threads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dataset/dataset.h"
#include "dataset/feature_writer.h"
#include "dataset/splits.h"

namespace atl {

/// A line that tells a user what happens: sizes, predicted memory, remarks.
using ProgressLine = std::function<void(const std::string& line)>;

struct WriterOptions {
  std::string name;
  bool weighted = false;            // keep the weights of arcs
  bool symmetrise = false;          // add the reverse of every arc; set_symmetrise() may decide later
  bool transpose = false;           // reverse every arc
  bool direction_is_known = false;  // the user has said what arcs mean: don't warn of a directed graph
  bool remove_self_loops = false;
  bool relabel = false;  // number the distinct labels 0 … classes − 1, and keep the original ones
  /// Drawn for the labelled vertices, as split "default", or "random" if the source has a default.
  std::optional<DrawnSplit> split;
  /// Drawn for link prediction; the graph then keeps only the arcs of training edges.
  std::optional<DrawnEdgeSplit> edge_split;
  // share of the training edges that are supervised and carry no messages; none: all do both
  std::optional<double> disjoint;
  std::uint64_t seed = 1;                     // for `disjoint`, if the edge split isn't drawn
  std::optional<MadeFeatures> made_features;  // for a source without features
  FeatureScaling scaling = FeatureScaling::kNone;
  bool float16 = false;   // store dense features in half precision
  bool replace = false;   // whether an existing data set may be replaced
  int threads = 0;        // 0: all cores that this process may use
  ProgressLine progress;  // may be empty
  ProgressLine warning;   // may be empty; hears what a user should know even without progress
};

class DatasetWriter {
 public:
  /// Throws Error unless the place can be written.
  DatasetWriter(const std::filesystem::path& place, WriterOptions options);
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  /// Allowed: 1 … 2³¹ − 2. By default the largest id of an arc decides.
  void set_vertices(Index vertices);
  void set_symmetrise(bool symmetrise);
  void set_source(std::string source, std::string licence);
  /// Tells meta.json what an importer did beyond the options of this class.
  void add_transform(std::string transform);
  void report(const std::string& line) const;
  /// Tells a user what they should know even without progress.
  void warn(const std::string& line) const;
  /// Where temporary files may be: on the disk that will hold the data set.
  const std::filesystem::path& scratch_folder() const;

  /// All spans have the same length, but `weights` may be empty (all 1). Weights are dropped unless the data
  /// set is weighted; then a weight that is negative or not finite is an Error. Ids are checked against
  /// set_vertices() if it was called, and otherwise against 2³¹ − 2.
  void add_arcs(std::span<const VertexId> src, std::span<const VertexId> dst, std::span<const float> weights,
                const RowOrigin& origin);

  /// Call once before features come. `stored` is the dtype of the source: float16 stays float16 unless
  /// scaled.
  void begin_features(Index columns, Dtype stored = Dtype::kFloat32);
  void add_features(View<const float> rows, const RowOrigin& origin);      // (any, columns)
  void add_sparse_features(const CsrView& rows, const RowOrigin& origin);  // (any × columns)

  /// Labels (vertices); −1 = unlabelled. `classes` 0: the largest label + 1. `names` (classes): the source's
  /// names for them, or empty.
  void set_labels(std::span<const std::int32_t> labels, int classes, const RowOrigin& origin,
                  std::vector<std::string> names = {});
  /// Flags (vertices, classes) of 0 and 1: one class per vertex if every row has exactly one 1 (one-hot),
  /// else targets.
  void set_flags(View<const std::uint8_t> flags, const RowOrigin& origin);
  /// Multi-label targets (vertices, classes) of 0 and 1.
  void set_targets(View<const std::uint8_t> targets, const RowOrigin& origin);
  /// A split (vertices, columns) of values of Split. Each column needs a training vertex. Errors begin with
  /// `source`.
  void add_split(const std::string& name, View<const std::uint8_t> split, const std::string& source);
  /// For link prediction. The arcs are then those of the training edges. Errors begin with `source`.
  void set_edge_split(EdgeSplit split, const std::string& source);
  /// Ids (vertices), all different.
  void set_original_ids(std::span<const std::int64_t> ids, const RowOrigin& origin);

  /// Writes everything and returns the contents of meta.json. Call once, last.
  DatasetMeta finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
