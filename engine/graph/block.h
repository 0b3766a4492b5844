// A Block: the arcs from some source rows to some destination rows, ready for every aggregation kernel.
// A full-batch rank has two (its own rows, its halo), a GNNPipe chunk two (fresh, historical), a sampled
// mini-batch one a layer, CAGNET one a broadcast.
#pragma once

#include <span>
#include <vector>

#include "graph/csr.h"

namespace atl {

class DeviceCopies;

/// Views only; whoever cut the graph (LocalGraph, a sampler, a chunker) owns the arrays and outlives it.
struct Block {
  CsrView arcs;                          // (dst × src)
  CsrView transpose;                     // (src × dst), for the backward pass
  const Index* transpose_arc = nullptr;  // (arcs) place in `arcs` of each transposed arc; only for attention
  const Real* dst_scale = nullptr;       // (dst) factor of each destination row, or null for 1
  const Real* src_scale = nullptr;       // (src) factor of each source row, or null for 1
  std::span<const VertexId> dst_ids;     // (dst) original vertex ids: the identity that keys random draws
  std::span<const VertexId> src_ids;     // (src)
  /// Destination i is source i: destinations come first. False: none of them is a source (a halo block), or not in that order.
  bool dst_are_sources = false;

  Index dst() const { return arcs.rows; }
  Index src() const { return arcs.cols; }
};

/// The block where kernels of the copies' device can read it.
Block on_device(DeviceCopies& copies, const Block& host);

/// How an aggregation weighs arcs; folded into dst_scale and src_scale so that kernels read no value per arc.
enum class Normalisation {
  kSum,        // 1, 1
  kMean,       // 1/deg(dst), 1
  kSymmetric,  // deg(dst)^-1/2, deg(src)^-1/2 (Kipf & Welling)
};

}  // namespace atl
