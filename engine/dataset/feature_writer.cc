#include "dataset/feature_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dataset/format/npy.h"
#include "dataset/format/npy_writer.h"
#include "tensor/rows.h"

namespace atl {
namespace {

constexpr Index kForgetBytes = 4 << 20;  // forgotten at a time while a mapped file is read
constexpr Index kFewestBits = 64;        // features with fewer columns aren't stored as bits
constexpr const char* kDenseFile = "features.npy";
constexpr const char* kSparseFiles[] = {"feature_offsets.npy", "feature_columns.npy", "feature_values.npy"};

/// Factor that makes the magnitudes of a row add up to 1; 1 for an empty row.
template <class Values>
float row_factor(const Values& values) {
  double sum = 0;
  for (float value : values) sum += std::abs(double(value));
  return sum > 0 ? float(1.0 / sum) : 1.0f;
}

/// Sorts entries by column, adds up equal columns and drops zeros.
void canonicalise(std::vector<std::pair<VertexId, float>>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size();) {
    auto merged = entries[i++];
    for (; i < entries.size() && entries[i].first == merged.first; ++i) merged.second += entries[i].second;
    if (merged.second != 0) entries[kept++] = merged;
  }
  entries.resize(kept);
}

/// Call when a pass over the rows, or entries, of a mapped array has come to `row`. Gives the memory of
/// earlier rows back, some at a time.
void forget_before(const NpyArray& array, Index row) {
  const Index some = std::max<Index>(1, kForgetBytes / (4 * std::max<Index>(1, array.cols())));
  if (row % some == 0) array.forget_rows(std::max<Index>(0, row - some), row);
}

}  // namespace

FeatureWriter::FeatureWriter(std::filesystem::path folder, const FeatureOptions& options)
    : folder_(std::move(folder)), options_(options) {}

void FeatureWriter::check_value(float value, Index row, Index column, const RowOrigin& origin) const {
  if (!std::isfinite(value)) {
    fail("{}: feature {} is {}; features must be finite: replace the value, for instance by 0",
         origin.at(row), column, value);
  }
  if (options_.float16 && std::abs(value) > kMaxHalf) {
    fail("{}: feature {} is {}, too large for float16 (at most {}); leave out --float16", origin.at(row),
         column, value, kMaxHalf);
  }
}

void FeatureWriter::store_dense(std::span<const float> row) {
  if (!dense_) {
    dense_.emplace(folder_ / kDenseFile, options_.float16 ? Dtype::kFloat16 : Dtype::kFloat32,
                   std::vector<Index>{options_.columns});
  }
  one_valued_ = one_valued_ && one_valued(row);
  if (!options_.float16) return dense_->append(row);
  half_row_.resize(row.size());
  std::transform(row.begin(), row.end(), half_row_.begin(), to_half);
  dense_->append(half_row_);
}

void FeatureWriter::add_dense(View<const float> rows, const RowOrigin& origin) {
  ATOLL_CHECK(!sparse_ && rows.cols == options_.columns, "{} columns of {}", rows.cols, options_.columns);
  for (Index r = 0; r < rows.rows; ++r) {
    row_.assign(rows.row(r), rows.row(r) + rows.cols);
    for (Index c = 0; c < rows.cols; ++c) {
      check_value(row_[std::size_t(c)], r, c, origin);
      nonzeros_ += row_[std::size_t(c)] != 0;
    }
    if (options_.scaling == FeatureScaling::kRow) {
      const float factor = row_factor(row_);
      for (float& value : row_) value *= factor;
    }
    store_dense(row_);
  }
  rows_ += rows.rows;
}

void FeatureWriter::add_sparse(const CsrView& rows, const RowOrigin& origin) {
  ATOLL_CHECK(!dense_ && rows.cols == options_.columns, "{} columns of {}", rows.cols, options_.columns);
  if (options_.scaling == FeatureScaling::kTraining) {
    fail("{}: standardising would make sparse features dense; use --scale-features row", origin.source);
  }
  if (!sparse_) sparse_.emplace(folder_);
  for (Index r = 0; r < rows.rows; ++r) {
    entries_.clear();
    for (Index i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) {
      const float value = rows.weights ? rows.weights[i] : 1.0f;
      check_value(value, r, rows.columns[i], origin);
      entries_.emplace_back(rows.columns[i], value);
    }
    canonicalise(entries_);
    for (const auto& [column, value] : entries_)
      check_value(value, r, column, origin);  // a sum of values of equal columns may be too large
    if (options_.scaling == FeatureScaling::kRow) {
      row_.clear();
      for (const auto& entry : entries_) row_.push_back(entry.second);
      const float factor = row_factor(row_);
      for (auto& entry : entries_) entry.second *= factor;
    }
    nonzeros_ += Index(entries_.size());
    sparse_->add_row(entries_, nonzeros_);
  }
  rows_ += rows.rows;
}

FeatureWriter::SparseFiles::SparseFiles(const std::filesystem::path& folder)
    : offsets(folder / kSparseFiles[0], Dtype::kInt64),
      columns(folder / kSparseFiles[1], Dtype::kInt32),
      values(folder / kSparseFiles[2], Dtype::kFloat32) {
  const std::int64_t zero = 0;
  offsets.append(std::span(&zero, 1));
}

void FeatureWriter::SparseFiles::add_row(std::span<const std::pair<VertexId, float>> entries,
                                         Index nonzeros_so_far) {
  for (const auto& [column, value] : entries) {
    columns.append(std::span(&column, 1));
    values.append(std::span(&value, 1));
  }
  offsets.append(std::span<const Index>(&nonzeros_so_far, 1));
}

void FeatureWriter::SparseFiles::finish() {
  offsets.finish();
  columns.finish();
  values.finish();
}

FeatureWriter::Stored FeatureWriter::finish(std::span<const std::uint8_t> training) {
  if (sparse_) {
    sparse_->finish();
    if (is_sparse_enough()) return {FeatureForm::kSparse, nonzeros_};
    sparse_to_dense();
    return finish_dense();
  }
  if (!dense_) return {};
  dense_->finish();
  if (options_.scaling == FeatureScaling::kTraining) {
    scale_by_training(training);
  } else if (is_sparse_enough()) {
    dense_to_sparse();
    return {FeatureForm::kSparse, nonzeros_};
  }
  return finish_dense();
}

FeatureWriter::Stored FeatureWriter::finish_dense() {
  if (!one_valued_ || options_.columns < kFewestBits) return {};
  dense_.reset();
  return {FeatureForm::kBits, dense_to_bits(folder_, rows_, options_.columns)};
}

void FeatureWriter::dense_to_sparse() {
  const NpyArray dense = NpyArray::open(folder_ / kDenseFile);
  SparseFiles files(folder_);
  row_.resize(std::size_t(options_.columns));
  Index nonzeros = 0;
  for (Index r = 0; r < rows_; ++r) {
    dense.read_rows(r, 1, row_.data());
    entries_.clear();
    for (Index c = 0; c < options_.columns; ++c) {
      if (row_[std::size_t(c)] != 0) entries_.emplace_back(VertexId(c), row_[std::size_t(c)]);
    }
    nonzeros += Index(entries_.size());
    files.add_row(entries_, nonzeros);
    forget_before(dense, r);
  }
  files.finish();
  nonzeros_ = nonzeros;  // counted again, as float16 may have rounded small values to zero
  std::filesystem::remove(folder_ / kDenseFile);
}

void FeatureWriter::sparse_to_dense() {
  const NpyArray offsets = NpyArray::open(folder_ / kSparseFiles[0]);
  const NpyArray columns = NpyArray::open(folder_ / kSparseFiles[1]);
  const NpyArray values = NpyArray::open(folder_ / kSparseFiles[2]);
  const auto first = offsets.values<std::int64_t>();
  const auto column_of = columns.values<std::int32_t>();
  const auto value_of = values.values<float>();
  for (Index r = 0; r < rows_; ++r) {
    row_.assign(std::size_t(options_.columns), 0.0f);
    for (Index i = first[std::size_t(r)]; i < first[std::size_t(r) + 1]; ++i) {
      row_[std::size_t(column_of[std::size_t(i)])] = value_of[std::size_t(i)];
      forget_before(columns, i);
      forget_before(values, i);
    }
    forget_before(offsets, r);
    store_dense(row_);
  }
  dense_->finish();
  for (const char* file : kSparseFiles) std::filesystem::remove(folder_ / file);
}

/// Two passes over the training rows for mean and deviation, one over all rows. A constant column becomes 0.
void FeatureWriter::scale_by_training(std::span<const std::uint8_t> training) {
  const std::size_t columns = std::size_t(options_.columns);
  one_valued_ = true;  // determined again from the scaled values
  const auto raw_path = folder_ / "features.unscaled";
  std::filesystem::rename(folder_ / kDenseFile, raw_path);
  const NpyArray raw = NpyArray::open(raw_path);
  std::vector<double> mean(columns), variance(columns);
  row_.resize(columns);
  const auto training_rows = [&](auto&& visit) {
    double count = 0;
    for (Index r = 0; r < rows_; ++r) {
      forget_before(raw, r);
      if (training[std::size_t(r)] == 0) continue;
      raw.read_rows(r, 1, row_.data());
      for (std::size_t c = 0; c < columns; ++c) visit(c, double(row_[c]));
      ++count;
    }
    return std::max(count, 1.0);
  };
  const double count = training_rows([&](std::size_t c, double x) { mean[c] += x; });
  for (double& m : mean) m /= count;
  training_rows([&](std::size_t c, double x) { variance[c] += (x - mean[c]) * (x - mean[c]) / count; });
  dense_.reset();
  for (Index r = 0; r < rows_; ++r) {
    forget_before(raw, r);
    raw.read_rows(r, 1, row_.data());
    for (std::size_t c = 0; c < columns; ++c) {
      row_[c] = variance[c] > 0 ? float((double(row_[c]) - mean[c]) / std::sqrt(variance[c])) : 0.0f;
    }
    store_dense(row_);
  }
  dense_->finish();
  std::filesystem::remove(raw_path);
}

bool one_valued(std::span<const float> row) {
  const auto first = std::find_if(row.begin(), row.end(), [](float value) { return value != 0; });
  return std::all_of(first, row.end(), [&](float value) { return value == 0 || value == *first; });
}

Index dense_to_bits(const std::filesystem::path& folder, Index rows, Index columns) {
  constexpr Index kForgetRows = 1024;
  Index ones = 0;
  {
    const NpyArray dense = NpyArray::open(folder / "features.npy");
    const Index bytes = 4 * BitView::words_of(columns);
    NpyWriter bits(folder / "feature_bits.npy", Dtype::kUint8, {bytes}),
        levels(folder / "feature_levels.npy", Dtype::kFloat32);
    std::vector<float> row(static_cast<std::size_t>(columns));
    std::vector<std::uint8_t> packed;
    for (Index r = 0; r < rows; ++r) {
      dense.read_rows(r, 1, row.data());
      packed.assign(std::size_t(bytes), 0);
      float level = 0;
      for (Index c = 0; c < columns; ++c) {
        if (row[std::size_t(c)] == 0) continue;
        level = row[std::size_t(c)];
        packed[std::size_t(c / 8)] |= std::uint8_t(1 << c % 8);
        ++ones;
      }
      bits.append(packed);
      levels.append(std::span<const float>(&level, 1));
      if (r % kForgetRows == 0) dense.forget_rows(std::max<Index>(0, r - kForgetRows), r);
    }
    bits.finish();
    levels.finish();
  }
  std::filesystem::remove(folder / "features.npy");
  return ones;
}

}  // namespace atl
