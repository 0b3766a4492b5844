// Cuts a rank's arcs for each layer of GraNNDis, by the distance of rows from the server's own vertices.
#include "partition/server_graph.h"

#include <algorithm>

#include "partition/prepared_graph.h"

namespace atl {
namespace {

/// The first rows of a matrix.
CsrView first_rows(const Csr& all, Index rows, Index cols) {
  CsrView view = all.view();
  view.rows = rows, view.cols = cols;
  return view;
}

class NearCutter {
 public:
  NearCutter(const ServerGraph& server, const LocalGraph& graph, int layers, bool attention)
      : server_(server), graph_(graph), layers_(layers), attention_(attention) {}

  NearBlock cut(int distance) const {
    NearBlock near;
    near.rows = rows_within(distance);
    near.sources = distance + 1 == layers_ ? graph_.owned : rows_within(distance + 1);
    near.own_arcs = graph_.own.offsets[std::size_t(near.rows)];
    near.is_whole = near.own_arcs == graph_.own.arcs() &&
                    graph_.outer.offsets[std::size_t(near.rows)] == graph_.outer.arcs();
    take_halo(distance, near);
    take_peers(distance, near);  // a peer may read fewer rows even if the block is whole
    if (near.is_whole) {
      near.halo = {}, near.halo_ids = {}, near.halo_scale = {};
      return near;
    }
    Transpose back = transpose(first_rows(graph_.own, near.rows, near.sources), attention_);
    near.own_transpose = std::move(back.csr), near.own_arc = std::move(back.arc_of);
    take_outer(near);
    return near;
  }

 private:
  Index rows_within(int distance) const {
    const auto begin = server_.distances.begin() + server_.part_offsets[std::size_t(graph_.part)];
    return std::upper_bound(begin, begin + graph_.owned, distance) - begin;
  }
  const std::vector<std::int32_t>& readers(int part) const { return server_.near[std::size_t(part)]; }

  void take_halo(int distance, NearBlock& near) const {
    for (Index row = 0; row < graph_.halo; ++row) {
      if (readers(graph_.part)[std::size_t(row)] > distance) continue;
      near.halo.push_back(VertexId(row));
      near.halo_ids.push_back(graph_.ids[std::size_t(graph_.owned + row)]);
      if (!graph_.src_scale.empty())
        near.halo_scale.push_back(graph_.src_scale[std::size_t(graph_.owned + row)]);
    }
  }

  /// Takes the near rows' arcs from halo rows. Columns number only those halo rows that are read.
  void take_outer(NearBlock& near) const {
    std::vector<VertexId> place(std::size_t(graph_.halo), -1);
    for (std::size_t i = 0; i < near.halo.size(); ++i) place[std::size_t(near.halo[i])] = VertexId(i);
    const CsrView from = first_rows(graph_.outer, near.rows, graph_.halo);
    near.outer.rows = near.rows, near.outer.cols = Index(near.halo.size());
    near.outer.offsets.assign(from.offsets, from.offsets + near.rows + 1);
    for (Index e = 0; e < from.offsets[near.rows]; ++e) {
      near.outer.columns.push_back(place[std::size_t(from.columns[e])]);
      if (from.weights != nullptr) near.outer.weights.push_back(from.weights[e]);
    }
    Transpose back = transpose(near.outer.view(), attention_);
    near.outer_transpose = std::move(back.csr), near.outer_arc = std::move(back.arc_of);
  }

  /// Needs no message, because both sides know at which distance each halo row is read.
  void take_peers(int distance, NearBlock& near) const {
    const Index mine = server_.part_offsets[std::size_t(graph_.part)];
    for (const PeerRows& all : graph_.peers) {
      PeerRows some{all.peer, {}, 0, 0, all.part, {}, {}};
      const std::vector<VertexId>& halo = server_.halos[std::size_t(all.part)];
      auto at = std::ranges::lower_bound(halo, VertexId(mine)) - halo.begin();
      for (const VertexId row : all.send)
        if (readers(all.part)[std::size_t(at++)] <= distance) some.send.push_back(row);
      const auto begin = std::ranges::lower_bound(near.halo, VertexId(all.receive_begin)),
                 end = std::ranges::lower_bound(near.halo, VertexId(all.receive_begin + all.receive_count));
      some.receive_begin = begin - near.halo.begin(), some.receive_count = end - begin;
      if (!some.send.empty() || some.receive_count > 0) near.peers.push_back(std::move(some));
    }
  }

  const ServerGraph& server_;
  const LocalGraph& graph_;
  int layers_;
  bool attention_;
};

}  // namespace

RankShare rank_share(const ServerGraph& held, const ServerOptions& options, Rank rank,
                     Normalisation normalisation, bool attention) {
  RankShare share;
  share.graph = localize(held.view(), rank,
                         {normalisation, attention, {}, PartRanks::of_group(Rank(options.first_part))});
  share.graph->counted = held.counted[std::size_t(share.graph->part)];
  const NearCutter cutter(held, *share.graph, options.layers, attention);
  for (int distance = 0; distance < options.layers; ++distance) share.near.push_back(cutter.cut(distance));
  return share;
}

Index NearBlock::bytes() const {
  const auto of = [](const auto& values) { return Index(values.size() * sizeof(values[0])); };
  Index sum = of(halo) + of(own_arc) + of(outer_arc) + of(halo_ids) + of(halo_scale);
  if (!is_whole) sum += own_transpose.bytes() + outer.bytes() + outer_transpose.bytes();
  for (const PeerRows& peer : peers) sum += of(peer.send);
  return sum;
}

Block own_block(const LocalGraph& graph, const NearBlock& near) {
  Block block = graph.own_block();
  block.arcs.rows = near.rows, block.arcs.cols = near.sources;
  if (near.is_whole) {
    block.transpose.rows = near.sources, block.transpose.cols = near.rows;
  } else {
    block.transpose = near.own_transpose.view();
    block.transpose_arc = near.own_arc.empty() ? nullptr : near.own_arc.data();
  }
  block.dst_ids = block.dst_ids.first(std::size_t(near.rows));
  block.src_ids = block.src_ids.first(std::size_t(near.sources));
  return block;
}

Block outer_block(const LocalGraph& graph, const NearBlock& near) {
  Block block = graph.outer_block();
  block.arcs.rows = near.rows;
  block.dst_ids = block.dst_ids.first(std::size_t(near.rows));
  if (near.is_whole) {
    block.transpose.cols = near.rows;
    return block;
  }
  block.arcs = near.outer.view();
  block.transpose = near.outer_transpose.view();
  block.transpose_arc = near.outer_arc.empty() ? nullptr : near.outer_arc.data();
  block.src_ids = near.halo_ids;
  if (block.src_scale != nullptr) block.src_scale = near.halo_scale.data();
  return block;
}

}  // namespace atl
