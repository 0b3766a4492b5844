// Some of a block's arcs as a block of their own.
#pragma once

#include "base/function_ref.h"
#include "graph/block.h"

namespace atl {

/// Holds its arrays.
class SomeArcs {
 public:
  struct Range {
    Index begin, end;
  };
  using Keep = FunctionRef<bool(VertexId dst_id, VertexId src_id)>;

  /// Arcs from `sources` to `destinations` of `whole`, those of which `keep` says so. dst_are_sources: Block's.
  SomeArcs(const Block& whole, Range destinations, Range sources, bool dst_are_sources, Keep keep)
      : block_(whole) {
    arcs_.rows = destinations.end - destinations.begin, arcs_.cols = sources.end - sources.begin;
    for (Index to = destinations.begin; to < destinations.end; ++to) {
      for (Index e = whole.arcs.offsets[to]; e < whole.arcs.offsets[to + 1]; ++e) {
        const VertexId from = whole.arcs.columns[e];
        if (from < sources.begin || from >= sources.end) continue;
        if (!keep(whole.dst_ids[std::size_t(to)], whole.src_ids[std::size_t(from)])) continue;
        arcs_.columns.push_back(VertexId(from - sources.begin));
        if (whole.arcs.weights != nullptr) arcs_.weights.push_back(whole.arcs.weights[e]);
      }
      arcs_.offsets.push_back(arcs_.arcs());
    }
    back_ = transpose(arcs_.view(), true);
    block_.arcs = arcs_.view();
    block_.transpose = back_.csr.view();
    block_.transpose_arc = back_.arc_of.data();
    block_.dst_are_sources = dst_are_sources;
    if (whole.dst_scale != nullptr) block_.dst_scale = whole.dst_scale + destinations.begin;
    if (whole.src_scale != nullptr) block_.src_scale = whole.src_scale + sources.begin;
    block_.dst_ids = whole.dst_ids.subspan(std::size_t(destinations.begin), std::size_t(arcs_.rows));
    block_.src_ids = whole.src_ids.subspan(std::size_t(sources.begin), std::size_t(arcs_.cols));
  }
  SomeArcs(const SomeArcs&) = delete;

  const Block& block() const { return block_; }

 private:
  Csr arcs_;
  Transpose back_;
  Block block_;
};

}  // namespace atl
