#include "dataset/array_rows.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace atl {
namespace {

constexpr Index kPieceArcs = 1 << 18;
constexpr Index kPieceElements = 1 << 20;

Index rows_a_piece(Index cols) {
  return std::max<Index>(1, kPieceElements / std::max<Index>(1, cols));
}

}  // namespace

void expect_integers(const NpyArray& array, const char* what) {
  if (is_floating(array.dtype()) || array.dtype() == Dtype::kBytes) {
    fail("{}: is {}; {} must be integers: save them with astype('int32')", array.name(), array.description(),
         what);
  }
}

void add_arc_rows(const NpyArray& arcs, const NpyArray* weights, DatasetWriter& writer) {
  expect_shape(arcs, {-1, 2});
  expect_integers(arcs, "ids of vertices");
  if (weights) expect_shape(*weights, {arcs.rows()});
  std::vector<std::int32_t> pairs;
  std::vector<VertexId> src, dst;
  std::vector<float> piece_weights;
  for (Index begin = 0; begin < arcs.rows(); begin += kPieceArcs) {
    const std::size_t count = std::size_t(std::min(kPieceArcs, arcs.rows() - begin));
    pairs.resize(2 * count);
    src.resize(count);
    dst.resize(count);
    arcs.read_rows(begin, Index(count), pairs.data());
    for (std::size_t i = 0; i < count; ++i) {
      src[i] = pairs[2 * i];
      dst[i] = pairs[2 * i + 1];
    }
    if (weights) {
      piece_weights.resize(count);
      weights->read_rows(begin, Index(count), piece_weights.data());
    }
    writer.add_arcs(src, dst, piece_weights, {arcs.name(), begin});
    arcs.forget_rows(begin, begin + Index(count));
  }
}

void add_feature_rows(const NpyArray& features, DatasetWriter& writer) {
  expect_shape(features, {-1, -1});
  if (features.cols() == 0) return;
  writer.begin_features(features.cols(), features.dtype());
  std::vector<float> piece;
  for (Index begin = 0; begin < features.rows(); begin += rows_a_piece(features.cols())) {
    const Index count = std::min(rows_a_piece(features.cols()), features.rows() - begin);
    piece.resize(std::size_t(count * features.cols()));
    features.read_rows(begin, count, piece.data());
    writer.add_features({piece.data(), count, features.cols()}, {features.name(), begin});
    features.forget_rows(begin, begin + count);
  }
}

Csr csr_rows(const NpzCsr& matrix, Index begin, Index count) {
  Csr rows;
  rows.rows = count;
  rows.cols = matrix.cols;
  rows.offsets.resize(std::size_t(count) + 1);
  matrix.offsets.read_rows(begin, count + 1, rows.offsets.data());
  const Index first = rows.offsets.front(), entries = rows.offsets.back() - first;
  for (Index& offset : rows.offsets) offset -= first;
  rows.columns.resize(std::size_t(entries));
  rows.weights.resize(std::size_t(entries));
  matrix.columns.read_rows(first, entries, rows.columns.data());
  matrix.values.read_rows(first, entries, rows.weights.data());
  matrix.offsets.forget_rows(begin, begin + count);
  matrix.columns.forget_rows(first, first + entries);
  matrix.values.forget_rows(first, first + entries);
  return rows;
}

void add_feature_rows(const NpzCsr& features, const std::string& source, DatasetWriter& writer) {
  if (features.cols == 0) return;
  writer.begin_features(features.cols);
  const Index density = features.rows == 0 ? 0 : features.columns.rows() / features.rows;
  for (Index begin = 0; begin < features.rows; begin += rows_a_piece(density)) {
    const Index count = std::min(rows_a_piece(density), features.rows - begin);
    writer.add_sparse_features(csr_rows(features, begin, count).view(), {source, begin});
  }
}

}  // namespace atl
