// Arcs as cuSPARSE takes them: 32-bit offsets, and a value per arc.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/sparse_sums.h"

namespace atl::cuda {
namespace {

struct FillRow {
  Arcs arcs;
  int* offsets;
  float* values;

  __device__ Real value(Index row, Index arc) const {
    const VertexId source = arcs.csr.columns[arc];
    Real value = 1;
    if (arcs.csr.weights != nullptr) value = Real(arcs.csr.weights[arc]);
    if (arcs.col_scale != nullptr) value *= arcs.col_scale[source];
    if (arcs.row_scale != nullptr) value *= arcs.row_scale[row];
    return value;
  }
  __device__ void operator()(Index row, const Lanes& lanes) const {
    const Index first = arcs.csr.offsets[row], behind = arcs.csr.offsets[row + 1];
    if (lanes.lane == 0) offsets[row + 1] = int(behind);
    if (lanes.lane == 0 && row == 0) offsets[0] = int(first);
    for (Index arc = first + lanes.lane; arc < behind; arc += lanes.count)
      values[arc] = float(value(row, arc));
  }
};

}  // namespace

void fill_matrix(Context& ctx, const Arcs& arcs, int* offsets, float* values) {
  for_rows(ctx, arcs.csr.rows, kWarp, FillRow{arcs, offsets, values});
}

}  // namespace atl::cuda
