// Arcs in cuSPARSE's form: 32-bit offsets, and a value per arc. No row may have a column twice.
#include "tensor/copies.h"
#include "tensor/cuda/cusparse.h"
#include "tensor/cuda/elements.h"
#include "tensor/cuda/stream.h"

namespace atl::cuda {
namespace {

struct FillRow {
  Arcs arcs;
  int* offsets;
  float* values;
  int* disordered;  // 1 if some row's columns don't ascend

  __device__ Real value(Index row, Index arc) const {
    const VertexId source = arcs.csr.columns[arc];
    Real value = 1;
    if (arcs.csr.weights != nullptr) value = Real(arcs.csr.weights[arc]);
    if (arcs.col_scale != nullptr) value *= arcs.col_scale[source];
    if (arcs.row_scale != nullptr) value *= arcs.row_scale[row];
    return value;
  }
  __device__ void operator()(Index row, const Lanes& lanes) const {
    const Index first = arcs.csr.offsets[row], stop = arcs.csr.offsets[row + 1];
    if (lanes.lane == 0) offsets[row + 1] = int(stop);
    if (lanes.lane == 0 && row == 0) offsets[0] = int(first);
    for (Index arc = first + lanes.lane; arc < stop; arc += lanes.count) {
      values[arc] = float(value(row, arc));
      if (arc > first && arcs.csr.columns[arc - 1] >= arcs.csr.columns[arc]) *disordered = 1;
    }
  }
};

}  // namespace

bool fill_matrix(Context& ctx, const Arcs& arcs, int* offsets, float* values) {
  Buffer<int> disordered(ctx.device, 1);
  call_library(ctx, &clear_now, Cleared{disordered.data(), sizeof(int)});
  for_rows(ctx, arcs.csr.rows, kWarp, FillRow{arcs, offsets, values, disordered.data()});
  return read(ctx, disordered.data()) == 0;
}

}  // namespace atl::cuda
