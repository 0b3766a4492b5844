#include "dataset/import/mask_splits.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "dataset/format/npz.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/id_map.h"

namespace atl {
namespace {

// The names that tools give each part's array.
constexpr const char* kTrainingNames[] = {"train", "train_mask", "train_idx"};
constexpr const char* kValidationNames[] = {"val", "val_mask", "val_idx", "valid", "valid_mask", "valid_idx"};
constexpr const char* kTestNames[] = {"test", "test_mask", "test_idx"};
using Names = std::span<const char* const>;
constexpr std::pair<Split, Names> kParts[] = {
    {Split::kTrain, kTrainingNames}, {Split::kValidation, kValidationNames}, {Split::kTest, kTestNames}};

NpyArray read_part(const NpzFile& archive, Names names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const char* name) { return archive.contains(name); });
  return archive.read(found == names.end() ? names.front() : *found);
}

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
  const NpyArray training = read_part(archive, kParts[0].second);
  const bool ids = is_list_of_ids(training, vertices);
  SplitTable table(vertices, ids ? 1 : std::max<Index>(1, training.cols()));
  for (const auto& [part, names] : kParts) {
    const NpyArray array = read_part(archive, names);
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
