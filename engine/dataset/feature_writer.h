// Writes a data set's features as rows arrive, in a form that doesn't depend on how the rows arrive: dense,
// CSR if under a quarter is non-zero, or bits if each row has a single non-zero value. Memory: a few rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "dataset/dataset.h"
#include "dataset/format/npy_writer.h"
#include "tensor/matrix.h"
#include "tensor/rows.h"

namespace atl {

/// Where rows come from: "edges.npy: row 17", or "feat.csv.gz:18" if `lines`.
struct RowOrigin {
  std::string source;
  Index first = 0;  // number of the first row handed on
  bool lines = false;

  std::string at(Index row) const {
    return lines ? fmt::format("{}:{}", source, first + row) : fmt::format("{}: row {}", source, first + row);
  }
};

enum class FeatureScaling {
  kNone,
  kRow,       // each row divided by the sum of its magnitudes (Planetoid's "row-normalised"); empty rows stay
  kTraining,  // each column shifted and divided to mean 0, deviation 1 over the training rows (GraphSAINT)
};

struct FeatureOptions {
  Index columns = 0;
  FeatureScaling scaling = FeatureScaling::kNone;
  bool float16 = false;  // whether features are stored as float16, if they are stored dense
};

class FeatureWriter {
 public:
  FeatureWriter(std::filesystem::path folder, const FeatureOptions& options);

  /// Adds `rows` (any, columns). A value that is not finite, or too large for float16, is an Error that names
  /// its row.
  void add_dense(View<const float> rows, const RowOrigin& origin);
  /// Adds `rows` (any × columns) with values as weights (null: 1). Columns need no order; values of equal
  /// columns are added up. Don't mix with add_dense.
  void add_sparse(const CsrView& rows, const RowOrigin& origin);

  Index rows() const { return rows_; }
  /// The stored form and the number of non-zeros (−1 if dense).
  struct Stored {
    FeatureForm form = FeatureForm::kDense;
    Index nonzeros = -1;
  };
  /// Closes the files in their final form. `training` (rows) is non-zero on training rows; only
  /// FeatureScaling::kTraining reads it.
  Stored finish(std::span<const std::uint8_t> training);

 private:
  struct SparseFiles {
    NpyWriter offsets, columns, values;
    explicit SparseFiles(const std::filesystem::path& folder);
    void add_row(std::span<const std::pair<VertexId, float>> entries, Index nonzeros_so_far);
    void finish();
  };
  void check_value(float value, Index row, Index column, const RowOrigin& origin) const;
  void store_dense(std::span<const float> row);
  Stored finish_dense();
  void scale_by_training(std::span<const std::uint8_t> training);
  void dense_to_sparse();
  void sparse_to_dense();
  bool is_sparse_enough() const { return nonzeros_ * 4 < rows_ * options_.columns; }

  std::filesystem::path folder_;
  FeatureOptions options_;
  std::optional<NpyWriter> dense_;
  std::optional<SparseFiles> sparse_;
  Index rows_ = 0, nonzeros_ = 0;
  bool one_valued_ = true;  // whether every row stored dense so far is one-valued
  std::vector<float> row_;
  std::vector<Half> half_row_;
  std::vector<std::pair<VertexId, float>> entries_;
};

// Features as bits. feature_bits.npy, uint8 (vertices, 4 · ⌈columns / 32⌉), has column c in bit c % 8 of byte
// c / 8. feature_levels.npy, float32 (vertices), has the value that a row's set bits stand for.

/// True if all non-zero values are the same, or there are none.
bool one_valued(std::span<const float> row);

/// Turns features.npy of the folder, whose rows are all one-valued, into bits; returns the number of ones.
/// Memory: a few rows.
Index dense_to_bits(const std::filesystem::path& folder, Index rows, Index columns);

/// Turns a row of bits into values, (columns).
template <class T>
void expand_bits(const std::uint8_t* bits, float level, Index columns, T* out) {
  for (Index c = 0; c < columns; ++c) out[c] = (bits[c / 8] >> (c % 8) & 1) != 0 ? T(level) : T(0);
}

// Features for vertices that have none: --features one-hot, --features random:64.

/// One-hot: a column per vertex, so that the first layer's weight has a trained row per vertex, an embedding.
/// Random: normal numbers of mean 0 and deviation 1, keyed by seed, vertex and column. They are not trained,
/// and cost the same for any number of vertices.
struct MadeFeatures {
  Index random_columns = 0;  // 0: one-hot
  std::uint64_t seed = 1;

  Index columns(Index vertices) const { return random_columns > 0 ? random_columns : vertices; }
  /// Returns "one-hot" or "64 random columns, seed 1".
  std::string description() const;
};

/// Reads "one-hot" or "random:COLUMNS". Anything else is an Error that names --features.
MadeFeatures parse_made_features(const std::string& text, std::uint64_t seed);

void add_made_features(const MadeFeatures& made, Index vertices, FeatureWriter& writer);

}  // namespace atl
