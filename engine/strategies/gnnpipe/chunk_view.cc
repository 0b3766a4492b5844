// Cuts a part's arcs into chunks.
#include <algorithm>

#include "strategies/gnnpipe/chunk_pass.h"

namespace atl {
namespace {

/// Returns the chunk of each row (owned + halo).
std::vector<std::int32_t> chunks_of_rows(const LocalGraph& graph) {
  std::vector<std::int32_t> chunk(std::size_t(graph.owned + graph.halo), 0);
  const auto mark = [&](Index first, std::span<const Index> slices) {
    for (std::size_t k = 0; k + 1 < slices.size(); ++k)
      std::fill(chunk.begin() + first + slices[k], chunk.begin() + first + slices[k + 1], std::int32_t(k));
  };
  mark(0, graph.slices);
  for (const PeerRows& peer : graph.peers) mark(graph.owned + peer.receive_begin, peer.receive_slices);
  return chunk;
}

class Cutter {
 public:
  Cutter(const LocalGraph& graph, bool attention)
      : graph_(graph),
        attention_(attention),
        chunk_of_(chunks_of_rows(graph)),
        place_(chunk_of_.size(), -1) {}

  ChunkArrays cut(Index begin, Index end) {
    ChunkArrays out;
    out.begin = begin, out.end = end;
    list_reads(out);
    out.own = rows_of(out, true), out.outer = rows_of(out, false);
    for (const VertexId row : out.reads) {
      place_[std::size_t(row)] = -1;
      out.ids.push_back(graph_.ids[std::size_t(row)]);
      if (!graph_.src_scale.empty()) out.scale.push_back(graph_.src_scale[std::size_t(row)]);
    }
    Transpose own = transpose(out.own.view(), attention_), outer = transpose(out.outer.view(), attention_);
    out.own_transpose = std::move(own.csr), out.own_arc = std::move(own.arc_of);
    out.outer_transpose = std::move(outer.csr), out.outer_arc = std::move(outer.arc_of);
    return out;
  }

 private:
  /// Calls visit(source, weight) for each arc of an owned row, in ascending order of sources, which are
  /// numbered as owned + halo.
  template <class Visit>
  void arcs_of(Index row, Visit visit) const {
    const auto visit_all = [&](const Csr& arcs, Index first) {
      const auto r = std::size_t(row);
      for (auto e = std::size_t(arcs.offsets[r]); e < std::size_t(arcs.offsets[r + 1]); ++e)
        visit(arcs.columns[e] + VertexId(first), arcs.weights.empty() ? nullptr : &arcs.weights[e]);
    };
    visit_all(graph_.own, 0);
    visit_all(graph_.outer, graph_.owned);
  }

  void list_reads(ChunkArrays& out) {
    for (Index row = out.begin; row < out.end; ++row)
      arcs_of(row, [&](VertexId source, const float*) {
        if ((source >= out.begin && source < out.end) || place_[std::size_t(source)] >= 0) return;
        place_[std::size_t(source)] = 0;
        out.reads.push_back(source);
      });
    std::ranges::sort(out.reads);
    for (std::size_t i = 0; i < out.reads.size(); ++i) {
      place_[std::size_t(out.reads[i])] = VertexId(i);
      const int chunk = chunk_of_[std::size_t(out.reads[i])];
      if (out.runs.empty() || out.runs.back().chunk != chunk) out.runs.push_back({0, chunk});
      out.runs.back().end = Index(i) + 1;
    }
  }

  Csr rows_of(const ChunkArrays& chunk, bool own) const {
    Csr out;
    out.rows = chunk.end - chunk.begin;
    out.cols = own ? out.rows : Index(chunk.reads.size());
    for (Index row = chunk.begin; row < chunk.end; ++row) {
      arcs_of(row, [&](VertexId source, const float* weight) {
        const bool inside = source >= chunk.begin && source < chunk.end;
        if (inside != own) return;
        out.columns.push_back(own ? source - VertexId(chunk.begin) : place_[std::size_t(source)]);
        if (weight != nullptr) out.weights.push_back(*weight);
      });
      out.offsets.push_back(out.arcs());
    }
    return out;
  }

  const LocalGraph& graph_;
  bool attention_;
  std::vector<std::int32_t> chunk_of_;  // (owned + halo)
  std::vector<VertexId> place_;  // (owned + halo) place among the rows that the slice reads; −1: none
};

Block block_of(const LocalGraph& graph, const ChunkArrays& chunk, const Csr& arcs, const Csr& transpose,
               const std::vector<Index>& arc) {
  Block block;
  block.arcs = arcs.view();
  block.transpose = transpose.view();
  block.transpose_arc = arc.empty() ? nullptr : arc.data();
  block.dst_scale = graph.dst_scale.empty() ? nullptr : graph.dst_scale.data() + chunk.begin;
  block.dst_ids =
      std::span(graph.ids).subspan(std::size_t(chunk.begin), std::size_t(chunk.end - chunk.begin));
  return block;
}

/// Destinations: the slice's rows; sources: the slice's rows (own), or rows outside of it that they read
/// (outer). Views into `graph` and `chunk`.
Block own_block(const LocalGraph& graph, const ChunkArrays& chunk) {
  Block block = block_of(graph, chunk, chunk.own, chunk.own_transpose, chunk.own_arc);
  block.src_scale = graph.src_scale.empty() ? nullptr : graph.src_scale.data() + chunk.begin;
  block.src_ids = block.dst_ids;
  block.dst_are_sources = true;
  return block;
}

Block outer_block(const LocalGraph& graph, const ChunkArrays& chunk) {
  Block block = block_of(graph, chunk, chunk.outer, chunk.outer_transpose, chunk.outer_arc);
  block.src_scale = chunk.scale.empty() ? nullptr : chunk.scale.data();
  block.src_ids = chunk.ids;
  return block;
}

/// Bytes of a slice's arrays. `reads` count twice: a ChunkPass notes where each row lies in an epoch.
Index bytes_of(const ChunkArrays& slice) {
  Index sum = 0;
  for (const Csr* each : {&slice.own, &slice.own_transpose, &slice.outer, &slice.outer_transpose})
    sum += each->bytes();
  sum += Index((2 * slice.reads.size() + slice.ids.size()) * sizeof(VertexId));
  sum += Index(slice.scale.size() * sizeof(Real));
  return sum + Index((slice.own_arc.size() + slice.outer_arc.size()) * sizeof(Index));
}

}  // namespace

ChunkSizes::ChunkSizes(std::span<const ChunkArrays> slices) {
  for (const ChunkArrays& each : slices) {
    chunks_.push_back({each.end - each.begin, Index(each.reads.size()), each.own.arcs(), each.outer.arcs()});
    bytes_ += bytes_of(each);
  }
}

std::unique_ptr<PartView> ChunkSizes::dry(const LocalGraph& graph, DryArcs arcs) const {
  return std::make_unique<ChunkView>(graph, *this, arcs);
}

ChunkView::ChunkView(const LocalGraph& graph, bool attention) {
  Cutter cutter(graph, attention);
  for (std::size_t k = 0; k + 1 < graph.slices.size(); ++k)
    arrays_.push_back(cutter.cut(graph.slices[k], graph.slices[k + 1]));
  for (const ChunkArrays& each : arrays_)
    chunks_.push_back(
        {each.begin, each.end, own_block(graph, each), outer_block(graph, each), each.reads, each.runs});
  sizes_ = std::make_shared<const ChunkSizes>(arrays_);
}

ChunkView::ChunkView(const LocalGraph& graph, const ChunkSizes& sizes, DryArcs arcs)
    : arrays_(sizes.chunks().size()), sizes_(std::make_shared<const ChunkSizes>(sizes)) {
  Index begin = 0;
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const ChunkSizes::Chunk& size = sizes.chunks()[k];
    ChunkArrays& lists = arrays_[k];
    lists.reads.resize(std::size_t(size.reads));
    if (size.reads > 0) lists.runs.push_back({size.reads, 0});
    ChunkRows& chunk = chunks_.emplace_back();
    chunk.begin = begin, chunk.end = begin + size.rows;
    chunk.own.arcs = arcs(size.rows, size.rows, size.own_arcs);
    chunk.own.transpose = chunk.own.arcs;
    chunk.own.dst_ids = chunk.own.src_ids =
        std::span(graph.ids).subspan(std::size_t(begin), std::size_t(size.rows));
    chunk.own.dst_are_sources = true;
    chunk.outer.arcs = arcs(size.rows, size.reads, size.outer_arcs);
    chunk.outer.transpose = arcs(size.reads, size.rows, size.outer_arcs);
    chunk.outer.dst_ids = chunk.own.dst_ids;
    chunk.outer.src_ids = chunk.reads = lists.reads;
    chunk.runs = lists.runs;
    begin = chunk.end;
  }
}

/// Places the blocks alone. A ChunkPass copies `reads`.
void ChunkView::place(DeviceCopies&, FunctionRef<Block(const Block& host)> placed) {
  for (ChunkRows& each : chunks_) {
    each.own = placed(each.own);
    each.outer = placed(each.outer);
  }
}

}  // namespace atl
