// A data set as it lies on disk: a folder of .npy files and meta.json, memory-mapped. Nothing is read until
// it is touched, so opening a data set costs no memory that grows with it. Read-only and thread-safe once
// opened. docs/datasets.md explains each file and field.
//
//   meta.json            statistics, splits, every transform applied, SHA-256 of every file
//   offsets.npy          int64 (vertices + 1)      arcs of each destination row ...
//   columns.npy          int32 (arcs)              ... and their sources, ascending in each row
//   weights.npy          float32 (arcs)            only where arcs are weighted
//   features.npy         float32|float16 (vertices, features)   dense; or, where under 25 % are non-zero:
//   feature_offsets.npy  int64 (vertices + 1)
//   feature_columns.npy  int32 (nnz)
//   feature_values.npy   float32 (nnz)
//                        or, where each row has one value beside 0 (feature_writer.h):
//   feature_bits.npy     uint8 (vertices, 4 · ⌈features / 32⌉)
//   feature_levels.npy   float32 (vertices)
//   labels.npy           int32 (vertices)          -1 = unlabelled
//   targets.npy          uint8 (vertices, classes) instead of labels.npy where multi-label
//   split_<name>.npy     uint8 (vertices, columns) 0 none, 1 train, 2 validation, 3 test
//   original_ids.npy     int64 (vertices)          only where they differ from 0 ... vertices - 1
//   edges_<set>.npy      int32 (pairs, 2)          only for link prediction, by PairSet: source, destination
//         of each pair
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/csr.h"
#include "tensor/matrix.h"
#include "tensor/rows.h"

namespace atl {

/// The pairs of link prediction. Validation and test edges are no arcs of the graph, in either direction.
enum class PairSet { kTrain, kValidation, kTest, kValidationNegative, kTestNegative };
inline constexpr int kPairSets = 5;
constexpr bool is_of_edges(PairSet set) {
  return set <= PairSet::kTest;
}

/// The number of pairs in each set.
struct PairCounts {
  std::array<Index, kPairSets> of{};
  // number of supervised training edges, which come first. The graph's arcs are the other training edges, or
  // all training edges if all are supervised.
  Index supervised = 0;
  bool any() const { return of[std::size_t(PairSet::kTrain)] > 0; }
  bool operator==(const PairCounts&) const = default;
};

/// The contents of meta.json; docs/datasets.md explains each field.
struct DatasetMeta {
  std::string name;
  Index vertices = 0, arcs = 0, features = 0, feature_nonzeros = -1;  // −1: not counted (dense)
  FeatureForm feature_form = FeatureForm::kDense;
  int classes = 0;
  // (classes) the source's labels; empty: labels are the classes' numbers
  std::vector<std::string> class_names;
  bool multi_label = false, weighted = false, symmetric = false;
  Index self_loops = 0;
  std::map<std::string, int> splits;             // name → number of columns
  PairCounts pairs;                              // none: no edge split
  std::vector<std::string> transforms;           // in the order in which the importer applied them
  std::map<std::string, std::string> checksums;  // file → SHA-256 in hex
  std::string checksum;  // SHA-256 of meta.json's canonical form: the data set's identity
  std::string source, licence;
};

enum class Split : std::uint8_t { kNone = 0, kTrain = 1, kValidation = 2, kTest = 3 };

/// An opened data set. Movable.
class Dataset {
 public:
  /// Checks meta.json and every file's presence, dtype and shape, but not the checksums (verify() reads
  /// everything). Throws Error naming the file, what is wrong and the remedy. `elsewhere` holds prepared
  /// graphs, in a folder per data set, where data sets' own folders can't be written (a volume with many
  /// readers, a share); empty: each data set's folder holds its own.
  static Dataset open(const std::filesystem::path& folder, const std::filesystem::path& elsewhere = {});
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  const DatasetMeta& meta() const;
  const std::filesystem::path& folder() const;
  /// The folder of the graphs prepared from it: FOLDER/prepared, or ELSEWHERE/NAME. It needn't exist.
  const std::filesystem::path& prepared_folder() const;

  /// The whole graph (vertices × vertices), row = destination; memory-mapped.
  CsrView graph() const;
  /// Fills `out` (ids.size(), features) with the rows `ids`. They become dense, whatever form features are
  /// stored in.
  void read_features(std::span<const VertexId> ids, MatrixView out) const;
  /// The same as CSR (ids.size() × features) of non-zeros, with values as weights.
  Csr read_sparse_features(std::span<const VertexId> ids) const;
  /// Number of non-zeros in a vertex's features. Only for features stored sparse.
  Index feature_entries(VertexId id) const;
  /// The rows `ids` of features stored as bits, (ids.size() × features), and their levels, (ids.size()).
  BitMatrix read_feature_bits(std::span<const VertexId> ids) const;
  std::vector<Real> read_feature_levels(std::span<const VertexId> ids) const;

  std::span<const std::int32_t> labels() const;  // (vertices), single-label; empty otherwise
  View<const std::uint8_t> targets() const;      // (vertices, classes), multi-label; empty otherwise
  /// (vertices) values of Split. An unknown name or column is an Error that lists the known ones.
  View<const std::uint8_t> split(const std::string& name) const;  // (vertices, columns)
  std::span<const std::int64_t> original_ids() const;             // (vertices), or empty: identity

  /// (pairs, 2) source and destination; empty without an edge split.
  View<const VertexId> pairs(PairSet set) const;

  /// Reads every file and compares its SHA-256 with meta.json's. Throws Error naming the first that differs.
  void verify() const;
  /// Lets the system take back the pages of all files; pages that are needed again are read again. For
  /// callers that have copied what they need.
  void forget() const;

 private:
  struct State;
  explicit Dataset(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// meta.json, in which a data set's folder describes itself.

inline constexpr int kMostClasses = 1 << 24;

/// Returns "dense", "sparse" or "bits", as in meta.json.
const char* to_string(FeatureForm form);

/// Returns, for example, "edges_validation.npy".
std::string pairs_file(PairSet set);

/// Returns the text of meta.json, and sets meta.checksum, the SHA-256 of everything else in it.
std::string print_meta(DatasetMeta& meta);

/// Throws Error, which begins with `name` and names the field, if the text is not what print_meta writes.
DatasetMeta parse_meta(std::string_view text, const std::string& name);

}  // namespace atl
