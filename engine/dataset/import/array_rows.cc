#include "dataset/import/array_rows.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dataset/format/npz.h"
#include "dataset/import/id_map.h"

namespace atl {
namespace {

constexpr Index kArcsOfPiece = 1 << 18;
constexpr Index kPieceElements = 1 << 20;
constexpr std::int64_t kLargestId = (std::int64_t(1) << 31) - 2;

Index rows_a_piece(Index cols) {
  return std::max<Index>(1, kPieceElements / std::max<Index>(1, cols));
}

void expect_ids(std::span<const std::int64_t> pairs, Index begin, VertexId first_id,
                const std::string& name) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] >= first_id && pairs[i] <= kLargestId) continue;
    fail("{}: row {}, column {} is {}; allowed are ids {} … {}{}", name, begin + Index(i / 2), i % 2,
         pairs[i], first_id, kLargestId,
         pairs[i] > kLargestId
             ? ": save numpy.unique(edges, return_inverse=True)[1].reshape(-1, 2), its first result "
               "as original_ids.npy"
             : "");
  }
}

}  // namespace

void expect_arc_rows(const NpyArray& arcs) {
  const std::vector<Index>& shape = arcs.shape();
  const char* remedy = "give one row (source, destination) per edge";
  if (shape.size() == 2) {
    if (shape[1] == 2) return;
    if (shape[0] == 2) remedy = "save edge_index.T";
    if (shape[0] > 2 && shape[1] == 3)
      remedy = "save edges[:, :2], and edges[:, 2] as weights.npy for --weights";
    if (shape[0] > 3 && shape[0] == shape[1]) remedy = "save an adjacency matrix with numpy.argwhere(a)";
  }
  fail("{}: is {}; must be (edges, 2): {}", arcs.name(), arcs.description(), remedy);
}

void expect_a_row_each(const NpyArray& array, Index vertices) {
  const bool turned = array.shape().size() == 2 && array.cols() == vertices && array.rows() != vertices;
  if (!turned) return;
  fail("{}: is {} for {} vertices; must have one row per vertex: save the transpose, array.T", array.name(),
       array.description(), vertices);
}

void expect_integers(const NpyArray& array, const char* what) {
  if (is_floating(array.dtype()) || is_text(array.dtype()) || array.dtype() == Dtype::kBool) {
    fail("{}: is {}; {} must be integers: save them with astype('int32')", array.name(), array.description(),
         what);
  }
}

void add_arc_rows(const NpyArray& arcs, const NpyArray* weights, VertexId first_id, DatasetWriter& writer) {
  expect_arc_rows(arcs);
  expect_integers(arcs, "ids of vertices");
  if (weights) expect_shape(*weights, {arcs.rows()});
  std::vector<std::int64_t> pairs;
  std::vector<VertexId> src, dst;
  std::vector<float> piece_weights;
  for (Index begin = 0; begin < arcs.rows(); begin += kArcsOfPiece) {
    const std::size_t count = std::size_t(std::min(kArcsOfPiece, arcs.rows() - begin));
    pairs.resize(2 * count);
    src.resize(count);
    dst.resize(count);
    arcs.read_rows(begin, Index(count), pairs.data());
    expect_ids(pairs, begin, first_id, arcs.name());
    for (std::size_t i = 0; i < count; ++i) {
      src[i] = VertexId(pairs[2 * i] - first_id);
      dst[i] = VertexId(pairs[2 * i + 1] - first_id);
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

namespace {

// The names that tools give each part's array.
constexpr const char* kTrainingNames[] = {"train", "train_mask", "train_idx"};
constexpr const char* kValidationNames[] = {"val", "val_mask", "val_idx", "valid", "valid_mask", "valid_idx"};
constexpr const char* kTestNames[] = {"test", "test_mask", "test_idx"};
using Names = std::span<const char* const>;
constexpr std::pair<Split, Names> kParts[] = {
    {Split::kTrain, kTrainingNames}, {Split::kValidation, kValidationNames}, {Split::kTest, kTestNames}};

/// Whether the array is a mask by its type; every non-zero value marks.
bool is_of_bytes(const NpyArray& array) {
  return array.dtype() == Dtype::kBool || array.dtype() == Dtype::kUint8 || array.dtype() == Dtype::kInt8;
}

bool is_flag(double value) {
  return value == 0 || value == 1;
}

/// A one-dimensional array of wider numbers is a list of ids, unless it has the length of a mask and holds
/// only 0 and 1.
bool is_list_of_ids(const NpyArray& array, Index vertices) {
  if (is_of_bytes(array) || array.shape().size() != 1) return false;
  if (array.rows() != vertices) return true;
  const std::vector<double> values = array.read<double>();
  return !std::all_of(values.begin(), values.end(), is_flag);
}

void mark_ids(const NpyArray& list, Split part, VertexId first_id, SplitTable& table) {
  const std::vector<std::int64_t> ids = list.read<std::int64_t>();
  if (const auto twice = first_twice(ids)) {
    fail(
        "{}: is {} and holds {} twice, in rows {} and {}; a split is a mask, of {} elements 0 and 1, or a list of different "
        "ids",
        list.name(), list.description(), ids[std::size_t(twice->first)], twice->first, twice->second,
        table.vertices);
  }
  for (const std::int64_t id : ids) table.mark(id - first_id, 0, part, list.name());
}

std::vector<std::uint8_t> read_flags(const NpyArray& mask) {
  if (is_of_bytes(mask)) return mask.read<std::uint8_t>();
  std::vector<std::uint8_t> flags;
  for (const double value : mask.read<double>()) {
    if (!is_flag(value))
      fail("{}: is {} and holds {}; a mask holds 0 and 1", mask.name(), mask.description(), value);
    flags.push_back(std::uint8_t(value));
  }
  return flags;
}

void mark_mask(const NpyArray& mask, Split part, SplitTable& table) {
  expect_a_row_each(mask, table.vertices);
  const bool fits = !mask.shape().empty() && mask.shape().size() <= 2 && mask.rows() == table.vertices;
  if (!fits) {
    fail("{}: is {}; must be ({}) or ({}, splits)", mask.name(), mask.description(), table.vertices,
         table.vertices);
  }
  if (mask.cols() != table.columns) {
    fail("{}: has {} columns, but the training mask has {}; give all three masks the same number",
         mask.name(), mask.cols(), table.columns);
  }
  table.mark_all(read_flags(mask), part, mask.name());
}

}  // namespace

SplitTable read_mask_split(const std::filesystem::path& path, Index vertices, VertexId first_id) {
  const NpzFile archive = NpzFile::open(path);
  const NpyArray training = archive.read_one_of(kParts[0].second);
  const bool ids = is_list_of_ids(training, vertices);
  SplitTable table(vertices, ids ? 1 : std::max<Index>(1, training.cols()));
  for (const auto& [part, names] : kParts) {
    const NpyArray array = archive.read_one_of(names);
    if (is_text(array.dtype()))
      fail("{}: is {}; a split is a mask or a list of ids", array.name(), array.description());
    if (is_list_of_ids(array, vertices))
      mark_ids(array, part, first_id, table);
    else
      mark_mask(array, part, table);
  }
  return table;
}

SplitTable read_mask_splits(std::span<const std::filesystem::path> paths, Index vertices) {
  SplitTable all(vertices, Index(paths.size()));
  for (Index column = 0; column < all.columns; ++column) {
    const auto& path = paths[std::size_t(column)];
    const SplitTable one = read_mask_split(path, vertices, 0);
    if (one.columns != 1) fail("{}: has {} columns; must have one", path.string(), one.columns);
    for (Index v = 0; v < vertices; ++v) {
      all.values[std::size_t(v * all.columns + column)] = one.values[std::size_t(v)];
    }
  }
  return all;
}

}  // namespace atl
