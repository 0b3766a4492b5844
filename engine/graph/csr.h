// Compressed sparse rows: which rows each row reads. Row = destination, column = source, everywhere in Atoll.
#pragma once

#include <span>
#include <vector>

#include "tensor/rows.h"

namespace atl {

/// The owning form of CsrView.
struct Csr {
  Index rows = 0, cols = 0;
  std::vector<Index> offsets{0};
  std::vector<VertexId> columns;
  std::vector<float> weights;  // empty: unweighted

  CsrView view() const {
    return {rows, cols, offsets.data(), columns.data(), weights.empty() ? nullptr : weights.data()};
  }
  Index arcs() const { return Index(columns.size()); }
  /// The size of its arrays.
  Index bytes() const {
    return Index(offsets.size() * sizeof(Index) + columns.size() * sizeof(VertexId) +
                 weights.size() * sizeof(float));
  }
};

/// A transpose that remembers where each of its arcs stands in the original.
struct Transpose {
  Csr csr;                    // (cols × rows of the original); within a row, ascending original row
  std::vector<Index> arc_of;  // (arcs) position in the original's columns; empty unless asked for
};

/// Counting sort, O(rows + cols + arcs). `with_arcs` fills arc_of (8 bytes per arc; only attention needs it).
Transpose transpose(const CsrView& a, bool with_arcs);

// A Block holds the arcs from some source rows to some destination rows, ready for every aggregation kernel.
// A full-batch rank has two (its own rows, its halo), a GNNPipe chunk two (fresh, historical), a sampled
// mini-batch one per layer, CAGNET one per broadcast.

class DeviceCopies;

/// Views only. The arrays are owned by LocalGraph, a sampler or a chunker, which outlives the block.
struct Block {
  CsrView arcs;                          // (dst × src)
  CsrView transpose;                     // (src × dst), for the backward pass
  const Index* transpose_arc = nullptr;  // (arcs) place in `arcs` of each transposed arc; only for attention
  const Real* dst_scale = nullptr;       // (dst) factor of each destination row, or null for 1
  const Real* src_scale = nullptr;       // (src) factor of each source row, or null for 1
  std::span<const VertexId> dst_ids;     // (dst) original vertex ids: the identity that keys random draws
  std::span<const VertexId> src_ids;     // (src)
  /// True where the sources begin with the destinations: destination i is source i. False where no
  /// destination is a source (a halo block), or the order differs.
  bool dst_are_sources = false;

  Index dst() const { return arcs.rows; }
  Index src() const { return arcs.cols; }
};

/// The same block in memory that kernels on the copies' device can read.
Block on_device(DeviceCopies& copies, const Block& host);

/// How an aggregation weighs arcs: by a factor of the destination and one of the source. The factors are
/// folded into dst_scale and src_scale, so that kernels read no value per arc.
enum class Normalisation {
  kSum,        // 1, 1
  kMean,       // 1/deg(dst), 1
  kSymmetric,  // deg(dst)^-1/2, deg(src)^-1/2 (Kipf & Welling)
};

// Degrees, and the factors that a normalisation derives from them.

/// Weight of a row's arcs: their number, or the sum of their weights. Data sets hold no weights below 0
/// (dataset/writer.h).
double degree_of(const CsrView& a, Index row);

/// Factor of a destination (source) row with this degree; rows without arcs get 0.
Real dst_factor(Normalisation normalisation, double degree);
Real src_factor(Normalisation normalisation, double degree);

}  // namespace atl
