// Writes a data set's features as rows arrive: dense, or CSR where under a quarter is non-zero, or as bits where each row
// has one value beside 0, whichever form they came in. Memory: a few rows.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/format/npy_writer.h"
#include "dataset/import/row_origin.h"
#include "tensor/csr_view.h"
#include "tensor/matrix.h"

namespace atl {

enum class FeatureScaling {
  kNone,
  kRow,       // each row divided by the sum of its magnitudes (Planetoid's "row-normalised"); empty rows stay
  kTraining,  // each column shifted and divided to mean 0, deviation 1 over the training rows (GraphSAINT)
};

struct FeatureOptions {
  Index columns = 0;
  FeatureScaling scaling = FeatureScaling::kNone;
  bool float16 = false;  // where dense
};

class FeatureWriter {
 public:
  FeatureWriter(std::filesystem::path folder, const FeatureOptions& options);

  /// (any, columns). A value that is not finite, or too large for float16, is an Error that names its row.
  void add_dense(View<const float> rows, const RowOrigin& origin);
  /// (any × columns), values as weights (null: 1). Columns need no order; equal ones are added up. Not to be
  /// mixed with add_dense.
  void add_sparse(const CsrView& rows, const RowOrigin& origin);

  Index rows() const { return rows_; }
  /// How they are stored, and the number of non-zeros, −1 where dense.
  struct Stored {
    FeatureForm form = FeatureForm::kDense;
    Index nonzeros = -1;
  };
  /// Closes the files in their final form. `training` (rows) is non-zero on training rows; read with
  /// FeatureScaling::kTraining alone.
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
  bool one_valued_ = true;  // every row stored dense so far
  std::vector<float> row_;
  std::vector<Half> half_row_;
  std::vector<std::pair<VertexId, float>> entries_;
};

}  // namespace atl
