#include "plan/rank_shape.h"

#include <algorithm>

#include "base/random.h"
#include "partition/server_graph.h"

namespace atl {
namespace {

/// How many of a halo list's rows `part` owns.
Index rows_of(std::span<const Index> offsets, int part, std::span<const VertexId> halo) {
  const auto begin = std::lower_bound(halo.begin(), halo.end(), offsets[std::size_t(part)]);
  return std::lower_bound(begin, halo.end(), offsets[std::size_t(part) + 1]) - begin;
}

/// The last of a halo list's rows before `end`.
Index last_of(std::span<const VertexId> halo, Index end) {
  return *std::prev(std::lower_bound(halo.begin(), halo.end(), end));
}

/// A number that differs from arc to arc, and between an arc and its reverse.
std::uint64_t signature(Index row, Index column, float weight) {
  return mix64(mix64(std::uint64_t(row) << 32 | std::uint64_t(column)) ^ std::uint64_t(double(weight) * 1e6));
}

/// Counts the arcs. The own block equals its transpose if arcs and reverses have the same sum of signatures:
/// sums of 64 random bits are equal by accident once in 2⁶⁴.
void count_arcs(const CsrView& graph, Index begin, Index end, RankShape& shape) {
  std::uint64_t difference = 0;
  for (Index row = begin; row < end; ++row) {
    for (Index e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e) {
      const Index column = graph.columns[e];
      if (column < begin || column >= end) {
        ++shape.outer_arcs;
        continue;
      }
      ++shape.own_arcs;
      const float weight = graph.weights == nullptr ? 1.0F : graph.weights[e];
      difference += signature(row, column, weight) - signature(column, row, weight);
    }
  }
  shape.own_is_symmetric = difference == 0;
}

std::vector<PeerShape> peer_shapes(std::span<const PeerRows> peers) {
  std::vector<PeerShape> shapes;
  for (const PeerRows& peer : peers)
    shapes.push_back({peer.peer, Index(peer.send.size()), peer.receive_count, {}, {}});
  return shapes;
}

}  // namespace

RankShape rank_shape(const PreparedGraph& prepared, Rank rank, const VertexMarks& induced_on) {
  const bool induced = !induced_on.empty();
  const auto offsets = prepared.part_offsets();
  const auto halo_of = [&](int part) { return induced ? prepared.induced_halo(part) : prepared.halo(part); };
  RankShape shape;
  shape.rank = rank;
  shape.ranks = prepared.parts();
  const Index begin = offsets[std::size_t(rank)], end = offsets[std::size_t(rank) + 1];
  shape.owned = rows_by_rank(prepared, {.induced_on = induced_on})[std::size_t(rank)];
  shape.halo = Index(halo_of(rank).size());
  count_arcs(induced ? prepared.induced_graph() : prepared.graph(), begin, end, shape);
  const auto rows_until = [&](Index last) {
    if (!induced) return last + 1 - begin;
    const auto ids = prepared.ids().subspan(std::size_t(begin), std::size_t(last + 1 - begin));
    return Index(std::ranges::count_if(ids, [&](VertexId id) { return induced_on[id]; }));
  };
  for (int peer = 0; peer < shape.ranks; ++peer) {
    if (peer == rank) continue;
    const PeerShape p{
        peer, rows_of(offsets, rank, halo_of(peer)), rows_of(offsets, peer, halo_of(rank)), {}, {}};
    if (p.send > 0 || p.receive > 0) shape.peers.push_back(p);
    if (p.send > 0) shape.boundary = std::max(shape.boundary, rows_until(last_of(halo_of(peer), end)));
  }
  return shape;
}

void add_slices(const LocalGraph& graph, RankShape& shape) {
  for (const PeerRows& peer : graph.peers) {
    const auto of = std::ranges::find(shape.peers, peer.part, &PeerShape::peer);
    of->send_slices = peer.send_slices, of->receive_slices = peer.receive_slices;
  }
}

RankShape rank_shape(const RankShare& share, int ranks) {
  const LocalGraph& graph = *share.graph;
  RankShape shape;
  shape.rank = graph.rank, shape.ranks = ranks;
  shape.owned = graph.owned, shape.boundary = graph.boundary, shape.halo = graph.halo;
  shape.own_arcs = graph.own.arcs(), shape.outer_arcs = graph.outer.arcs();
  shape.own_is_symmetric = graph.own_is_symmetric;
  shape.copies = graph.owned - graph.counted;
  shape.peers = peer_shapes(graph.peers);
  for (const NearBlock& each : share.near) {
    shape.near.push_back({each.rows, each.sources, each.is_whole ? graph.halo : Index(each.halo.size()),
                          each.own_arcs, each.is_whole ? graph.outer.arcs() : each.outer.arcs(),
                          peer_shapes(each.peers)});
    shape.near_bytes += each.bytes();
  }
  return shape;
}

void add_beyond(const RankShape& part, int layers, RankShape& shape) {
  shape.near.insert(shape.near.begin(), std::size_t(layers),
                    {part.owned, part.owned, part.halo, part.own_arcs, part.outer_arcs, part.peers});
}

RankShape on_ranks(RankShape shape, const PartRanks& on, int ranks) {
  shape.ranks = ranks;
  shape.rank = on.rank_of(shape.rank);
  for (PeerShape& each : shape.peers) each.peer = on.rank_of(each.peer);
  std::ranges::sort(shape.peers, {}, &PeerShape::peer);
  return shape;
}

namespace {

void add_layer(const LayerPass& pass, bool recompute, EpochWork& sum) {
  sum += pass.forward();
  sum += pass.backward();
  if (recompute) sum += pass.forward();
}

/// The sizes of layer `l`: all owned rows or, where some are copies, only the rows that the layers after `l`
/// need.
LayerSize layer_size(const Model& model, int l, const RankShape& shape) {
  if (shape.near.empty()) return {double(shape.owned), double(shape.halo), double(shape.arcs())};
  const auto hops_left = std::size_t(std::count_if(model.layers.begin() + l + 1, model.layers.end(),
                                                   [](const auto& each) { return each->spec().gathers; }));
  if (hops_left == shape.near.size()) return {double(shape.owned), 0, 0};
  const NearShape& near = shape.near[hops_left];
  if (!model.spec(l).gathers) return {double(near.rows), 0, 0};
  return {double(near.rows), double(near.sources - near.rows + near.halo),
          double(near.own_arcs + near.outer_arcs)};
}

/// Calls `visit` for each layer that runs in every epoch.
template <class F>
void for_each_pass(const Model& model, const RankShape& shape, F&& visit) {
  const int end = shape.layers.end < 0 ? int(model.layers.size()) : shape.layers.end;
  const int prefix = model.constant_prefix();
  for (int l = std::max(prefix, shape.layers.first); l < end; ++l)
    visit(LayerPass(model, l, layer_size(model, l, shape), l == prefix));
}

}  // namespace

EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { add_layer(pass, recompute, sum); });
  return sum;
}

EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute, int fixed) {
  EpochWork sum;
  for (std::size_t l = 0; l < sizes.size(); ++l)
    add_layer(LayerPass(model, int(l), sizes[l], int(l) <= fixed), recompute, sum);
  return sum;
}

EpochWork evaluation_work(const Model& model, const RankShape& shape) {
  EpochWork sum;
  for_each_pass(model, shape, [&](const LayerPass& pass) { sum += pass.forward(); });
  return sum;
}

const std::vector<RankShape>& ServerShapes::of(Rank rank, const GraphMarks& marks, int ranks) {
  ServerOptions options = *data_share_of(job_, rank).server;
  options.induced_on = marks.induced_on;
  beyond_ = options.beyond;
  const auto place = std::size_t(rank - options.first_part);
  if (options.first_part == first_part_) return shapes_[place];
  first_part_ = options.first_part;
  const GraphNeeds needs = graph_needs(job_.model);
  shapes_.assign(std::size_t(options.parts), {});
  Index most = -1;
  for (const ServerGraph& held : server_graphs(prepared_, options, marks.counted)) {
    for (int part = 0; part < options.parts; ++part) {
      RankShape& shape = shapes_[std::size_t(part)].emplace_back(rank_shape(
          rank_share(held, options, Rank(first_part_ + part), needs.normalisation, needs.attention), ranks));
      shape.server_bytes = held.bytes(), shape.is_followed = options.redraws || options.batches > 1;
    }
    if (held.bytes() > most) most = held.bytes(), largest_ = shapes_[0].size() - 1;
  }
  return shapes_[place];
}

int server_batches_of(const Job& job) {
  const auto server = data_share_of(job, 0).server;
  return server ? server->batches : 1;
}

}  // namespace atl
