// Rows with very many arcs, in pieces: whichever of them the list has room for, a sum is the same, to the bit.
#include "tensor/cuda/arc_rows.h"

#include "unit/twins.h"

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

std::vector<float> sums_with(Index capacity, const std::vector<Index>& offsets,
                             const std::vector<VertexId>& columns) {
  GpuRank rank;
  DeviceCopies copies(rank.ctx);
  const auto rows = Index(offsets.size()) - 1;
  Buffer<float> out(Device::kCuda, rows), sums(Device::kCuda, capacity + 1);
  Buffer<int> count(Device::kCuda, 1);
  Buffer<cuda::Piece> pieces(Device::kCuda, capacity + 1);
  memory_of(Device::kCuda).clear(count.data(), sizeof(int));
  const Reciprocals op{copies.of(std::span<const Index>(offsets)).data(),
                       copies.of(std::span<const VertexId>(columns)).data(), out.data()};
  const cuda::ArcShape shape{rows, 1, false, 0, 1};
  const cuda::Hubs<float> hubs{count.data(), pieces.data(), sums.data(), int(capacity)};
  cuda::launch(rank.ctx, 1, 64, 0, &cuda::over_arcs<Reciprocals>, op, shape, hubs);
  cuda::launch(rank.ctx, 2, 32, 0, &cuda::over_pieces<Reciprocals>, op, shape, hubs);
  cuda::launch(rank.ctx, 2, 32, 0, &cuda::over_hubs<Reciprocals>, op, shape, hubs);
  return read(rank.ctx, std::span<const float>(out.data(), std::size_t(rows)));
}

TEST(Hubs, AreTheSameWhetherTheListHasRoomOrNot) {
  std::vector<Index> offsets{0};
  std::vector<VertexId> columns;
  for (const Index degree : {3, 700, 0, 5000, 513, 512, 2000, 1024}) {
    for (Index e = 0; e < degree; ++e)
      columns.push_back(VertexId(mix32(std::uint32_t(columns.size())) % 1000));
    offsets.push_back(Index(columns.size()));
  }
  const std::vector<float> alone = sums_with(0, offsets, columns);
  for (const Index capacity : {1, 3, 20, 25, 1000})
    EXPECT_EQ(sums_with(capacity, offsets, columns), alone) << capacity;
  double whole = 0;
  for (Index e = offsets[3]; e < offsets[4]; ++e) whole += 1.0 / (1 + columns[std::size_t(e)]);
  EXPECT_NEAR(double(alone[3]), whole, 1e-4 * whole);
}

}  // namespace
}  // namespace atl::test
