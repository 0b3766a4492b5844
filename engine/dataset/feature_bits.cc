#include "dataset/feature_bits.h"

#include <algorithm>
#include <vector>

#include "dataset/format/npy.h"
#include "dataset/format/npy_writer.h"
#include "tensor/bit_matrix.h"

namespace atl {

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
