// Rows with very many arcs, divided into pieces: the list of pieces has room for all rows, however short it
// is, and no sum depends on the order in which pieces run.
#include "tensor/cuda/arc_rows.h"

#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

/// Σ of 1 / (1 + column) over a row's arcs, by one lane each.
struct Reciprocals {
  const Index* offsets;
  const VertexId* columns;
  float* out;

  using Sum = float;
  __device__ Index first_of(Index row) const { return offsets[row]; }
  __device__ Sum begin() const { return 0; }
  __device__ void add(Sum& sum, cuda::Place, Index first, Index behind, const cuda::Lanes&) const {
    for (Index e = first; e < behind; ++e) sum += 1.0f / float(1 + columns[e]);
  }
  __device__ void merge(Sum& sum, const Sum& later) const { sum += later; }
  __device__ void finish(Sum& sum, cuda::Place place, const cuda::Lanes&) const { out[place.row] = sum; }
};

std::vector<float> sums_with(int capacity_log, const std::vector<Index>& offsets,
                             const std::vector<VertexId>& columns) {
  GpuRank rank;
  DeviceCopies copies(rank.ctx);
  const auto rows = Index(offsets.size()) - 1, capacity = Index(1) << std::max(0, capacity_log);
  Buffer<float> out(Device::kCuda, rows), sums(Device::kCuda, capacity);
  Buffer<int> count(Device::kCuda, 1);
  Buffer<cuda::Piece> pieces(Device::kCuda, capacity);
  memory_of(Device::kCuda).clear(count.data(), sizeof(int));
  const Reciprocals op{copies.of(std::span<const Index>(offsets)).data(),
                       copies.of(std::span<const VertexId>(columns)).data(), out.data()};
  const cuda::ArcShape shape{rows, 1, false, 0, 1};
  const cuda::Hubs<float> hubs{count.data(), pieces.data(), sums.data(), capacity_log};
  const int piece_blocks = hubs.any() ? 3 : 0;
  if (hubs.any()) cuda::launch(rank.ctx, 1, 64, 0, &cuda::find_hubs<Reciprocals>, op, shape, hubs);
  cuda::launch(rank.ctx, 1 + piece_blocks, 64, 0, &cuda::over_arcs<Reciprocals>, op, shape, hubs,
               piece_blocks);
  if (hubs.any()) cuda::launch(rank.ctx, 2, 32, 0, &cuda::over_hubs<Reciprocals>, op, shape, hubs);
  EXPECT_LE(read(rank.ctx, std::span<const int>(count.data(), 1))[0], capacity);
  return read(rank.ctx, std::span<const float>(out.data(), std::size_t(rows)));
}

TEST(Hubs, AreSummedInAsManyPiecesAsTheListHasRoomFor) {
  std::vector<Index> offsets{0};
  std::vector<VertexId> columns;
  for (const Index degree : {3, 700, 0, 5000, 513, 512, 2000, 1024}) {
    for (Index e = 0; e < degree; ++e)
      columns.push_back(VertexId(mix32(std::uint32_t(columns.size())) % 1000));
    offsets.push_back(Index(columns.size()));
  }
  const std::vector<float> alone = sums_with(-1, offsets, columns);
  for (const int capacity_log : {0, 1, 2, 3, 4, 5, 8, 16}) {
    const std::vector<float> sums = sums_with(capacity_log, offsets, columns);
    for (std::size_t row = 0; row < sums.size(); ++row)
      EXPECT_NEAR(sums[row], alone[row], 1e-4f * alone[row]) << capacity_log;
  }
  double whole = 0;
  for (Index e = offsets[3]; e < offsets[4]; ++e) whole += 1.0 / (1 + columns[std::size_t(e)]);
  EXPECT_NEAR(double(alone[3]), whole, 1e-4 * whole);
}

}  // namespace
}  // namespace atl::test
