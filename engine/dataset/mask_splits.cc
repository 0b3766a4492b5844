#include "dataset/mask_splits.h"

#include <utility>

#include "base/error.h"
#include "dataset/npz.h"

namespace atl {
namespace {

constexpr std::pair<const char*, Split> kParts[] = {
    {"train", Split::kTrain}, {"val", Split::kValidation}, {"test", Split::kTest}};

NpyArray read_mask(const NpzFile& archive, const std::string& part, Index vertices) {
  NpyArray mask = archive.read(archive.contains(part + "_mask") ? part + "_mask" : part);
  const bool flags =
      mask.dtype() == Dtype::kBool || mask.dtype() == Dtype::kUint8 || mask.dtype() == Dtype::kInt8;
  if (!flags) {
    fail(
        "{}: is {}; a split is a mask of bool, one element a vertex: convert a list of ids with "
        "numpy.isin(numpy.arange(vertices), ids)",
        mask.name(), mask.description());
  }
  if (mask.shape().empty() || mask.shape().size() > 2 || mask.rows() != vertices || mask.cols() == 0) {
    fail("{}: is {}; its shape must be ({}) or ({}, splits)", mask.name(), mask.description(), vertices,
         vertices);
  }
  return mask;
}

}  // namespace

SplitTable read_mask_split(const std::filesystem::path& path, Index vertices) {
  const NpzFile archive = NpzFile::open(path);
  const Index columns = read_mask(archive, "train", vertices).cols();
  SplitTable table(vertices, columns);
  for (const auto& [name, part] : kParts) {
    const NpyArray mask = read_mask(archive, name, vertices);
    if (mask.cols() != columns) {
      fail("{}: has {} columns, the training mask has {}; give all three the same", mask.name(), mask.cols(),
           columns);
    }
    table.mark_all(mask.read<std::uint8_t>(), part, mask.name());
  }
  return table;
}

SplitTable read_mask_splits(std::span<const std::filesystem::path> paths, Index vertices) {
  SplitTable all(vertices, Index(paths.size()));
  for (Index column = 0; column < all.columns; ++column) {
    const auto& path = paths[std::size_t(column)];
    const SplitTable one = read_mask_split(path, vertices);
    if (one.columns != 1) fail("{}: has {} columns where one is expected", path.string(), one.columns);
    for (Index v = 0; v < vertices; ++v) {
      all.values[std::size_t(v * all.columns + column)] = one.values[std::size_t(v)];
    }
  }
  return all;
}

}  // namespace atl
