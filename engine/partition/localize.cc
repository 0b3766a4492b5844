// Cuts what a rank holds out of a prepared graph.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "graph/csr.h"
#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

PartRanks::PartRanks(std::vector<int> parts) : parts_(std::move(parts)), ranks_(parts_.size()) {
  ATOLL_CHECK(is_permutation(parts_), "parts {}", parts_text(parts_));
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) ranks_[std::size_t(parts_[rank])] = Rank(rank);
}

bool is_permutation(std::span<const int> parts) {
  std::vector<bool> seen(parts.size());
  for (const int part : parts) {
    if (part < 0 || std::size_t(part) >= parts.size() || seen[std::size_t(part)]) return false;
    seen[std::size_t(part)] = true;
  }
  return true;
}

std::string parts_text(std::span<const int> parts) {
  return joined(parts, ",");
}

std::vector<int> read_parts(const std::string& text, int ranks, const std::string& what) {
  std::vector<int> parts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    int part = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), part);
    parts.push_back(error == std::errc() && end == word.data() + word.size() ? part : -1);
  }
  if (parts.size() != std::size_t(ranks) || !is_permutation(parts))
    fail("{}: '{}' is not allowed (use each of 0 … {} once, the part of rank 0 first)", what, text,
         ranks - 1);
  return parts;
}

std::vector<std::uint8_t> VertexMarks::bytes() const {
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(vertices()));
  for (Index v = 0; v < vertices(); ++v) marks[std::size_t(v)] = (*this)[VertexId(v)] ? 1 : 0;
  return marks;
}

namespace {

/// A parted graph as one of its parts sees it.
struct Source : PartedGraph {
  Index begin, end;  // the part's range of rows

  Source(const PartedGraph& whole, int part, const VertexMarks& induced_on) : PartedGraph(whole) {
    ATOLL_CHECK(part >= 0 && part < int(halos.size()), "part {} of {}", part, halos.size());
    begin = part_offsets[std::size_t(part)], end = part_offsets[std::size_t(part) + 1];
    whole_ = induced_on.empty();
    for (Index row = begin; !whole_ && row < end; ++row) {
      const bool held = induced_on[ids[std::size_t(row)]];
      local_.push_back(held ? VertexId(rows_.size()) : -1);
      if (held) rows_.push_back(VertexId(row));
    }
  }

  double degree(Index row) const {
    return degrees.empty() ? degree_of(graph, row) : degrees[std::size_t(row)];
  }
  /// The rank holds owned() rows. row(i) is the graph's row of local row i, ascending, and local() is the
  /// inverse.
  Index owned() const { return whole_ ? end - begin : Index(rows_.size()); }
  Index row(Index i) const { return whole_ ? begin + i : rows_[std::size_t(i)]; }
  /// How many held rows come before `row`, which is in the range or its end.
  Index held_before(Index row) const {
    return whole_ ? row - begin : std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin();
  }
  VertexId local(Index row) const {
    return whole_ ? VertexId(row - begin) : local_[std::size_t(row - begin)];
  }

  /// The rows of `part` in a halo list, as a range of the list.
  std::span<const VertexId> rows_of(std::size_t part, std::span<const VertexId> halo) const {
    const auto first = std::lower_bound(halo.begin(), halo.end(), part_offsets[part]);
    return {first, std::lower_bound(first, halo.end(), part_offsets[part + 1])};
  }

 private:
  bool whole_ = true;            // whether all rows of the range are held; if so, the following are empty
  std::vector<VertexId> rows_;   // (owned)
  std::vector<VertexId> local_;  // (end − begin), −1 where not held
};

void set_ids(const Source& source, std::span<const VertexId> halo, LocalGraph& out) {
  out.owned = source.owned();
  out.halo = Index(halo.size());
  out.ids.reserve(std::size_t(out.owned + out.halo));
  for (Index i = 0; i < out.owned; ++i) out.ids.push_back(source.ids[std::size_t(source.row(i))]);
  for (const VertexId row : halo) out.ids.push_back(source.ids[std::size_t(row)]);
}

void set_slices(int part, const Source& source, LocalGraph& out) {
  const auto slices = std::size_t(source.slices);
  for (const Index row : source.slice_offsets.subspan(std::size_t(part) * slices, slices + 1))
    out.slices.push_back(source.held_before(row));
}

void append(Csr& csr, VertexId column, const CsrView& from, Index arc) {
  csr.columns.push_back(column);
  if (from.weights != nullptr) csr.weights.push_back(from.weights[arc]);
}

/// Divides each owned row's arcs into arcs to owned rows and arcs to halo rows. Both the columns and the halo
/// list ascend, so each search begins at the last place found.
void split_rows(const Source& source, std::span<const VertexId> halo, LocalGraph& out) {
  const CsrView& graph = source.graph;
  out.own.rows = out.own.cols = out.outer.rows = out.owned;
  out.outer.cols = out.halo;
  const Index arcs = graph.offsets[source.end] - graph.offsets[source.begin];
  out.own.columns.reserve(std::size_t(arcs));
  if (graph.weights != nullptr) out.own.weights.reserve(std::size_t(arcs));
  for (Index i = 0; i < out.owned; ++i) {
    const Index r = source.row(i);
    auto place = halo.begin();
    for (Index e = graph.offsets[r]; e < graph.offsets[r + 1]; ++e) {
      const VertexId column = graph.columns[e];
      if (column >= source.begin && column < source.end) {
        append(out.own, source.local(column), graph, e);
        continue;
      }
      place = std::lower_bound(place, halo.end(), column);
      append(out.outer, VertexId(place - halo.begin()), graph, e);
    }
    out.own.offsets.push_back(out.own.arcs());
    out.outer.offsets.push_back(out.outer.arcs());
  }
}

bool equal(const Csr& a, const Csr& b) {
  return a.offsets == b.offsets && a.columns == b.columns && a.weights == b.weights;
}

void set_transposes(bool attention, LocalGraph& out) {
  Transpose own = transpose(out.own.view(), attention), outer = transpose(out.outer.view(), attention);
  out.own_arc = std::move(own.arc_of), out.outer_arc = std::move(outer.arc_of);
  out.outer_transpose = std::move(outer.csr);
  out.own_is_symmetric = equal(own.csr, out.own);
  if (!out.own_is_symmetric) out.own_transpose = std::move(own.csr);
}

/// Degrees are those that the source lists, or else those of the rows of its graph.
void set_scales(const Source& source, std::span<const VertexId> halo, Normalisation normalisation,
                LocalGraph& out) {
  if (normalisation == Normalisation::kSum) return;
  for (Index i = 0; i < out.owned; ++i)
    out.dst_scale.push_back(dst_factor(normalisation, source.degree(source.row(i))));
  if (normalisation != Normalisation::kSymmetric) return;
  for (Index i = 0; i < out.owned; ++i)
    out.src_scale.push_back(src_factor(normalisation, source.degree(source.row(i))));
  for (const VertexId row : halo) out.src_scale.push_back(src_factor(normalisation, source.degree(row)));
}

/// `received`: rows of the graph. `own`: LocalGraph::slices.
void set_slices(const Source& source, std::span<const VertexId> received, std::span<const Index> own,
                PeerRows& peer) {
  const auto slices = std::size_t(source.slices);
  for (const Index end : own)
    peer.send_slices.push_back(std::ranges::lower_bound(peer.send, end) - peer.send.begin());
  for (const Index row : source.slice_offsets.subspan(std::size_t(peer.part) * slices, slices + 1))
    peer.receive_slices.push_back(std::ranges::lower_bound(received, row) - received.begin());
}

void set_peers(const Source& source, int part, const PartRanks& ranks, LocalGraph& out) {
  const auto me = std::size_t(part);
  Index received = 0;
  for (std::size_t p = 0; p < source.halos.size(); ++p) {
    if (p == me) continue;
    PeerRows peer{
        ranks.rank_of(int(p)), {}, received, Index(source.rows_of(p, source.halos[me]).size()), int(p)};
    for (const VertexId row : source.rows_of(me, source.halos[p])) peer.send.push_back(source.local(row));
    set_slices(source, source.rows_of(p, source.halos[me]), out.slices, peer);
    received += peer.receive_count;
    if (!peer.send.empty()) out.boundary = std::max<Index>(out.boundary, peer.send.back() + 1);
    if (!peer.send.empty() || peer.receive_count > 0) out.peers.push_back(std::move(peer));
  }
}

const Real* data_or_null(const std::vector<Real>& values, Index begin) {
  return values.empty() ? nullptr : values.data() + begin;
}

}  // namespace

PartedGraph parted(const PreparedGraph& prepared, bool induced) {
  PartedGraph graph{induced ? prepared.induced_graph() : prepared.graph(),
                    prepared.part_offsets(),
                    {},
                    prepared.ids(),
                    prepared.slice_offsets(),
                    prepared.slices(),
                    {}};
  for (int p = 0; p < prepared.parts(); ++p)
    graph.halos.push_back(induced ? prepared.induced_halo(p) : prepared.halo(p));
  return graph;
}

std::unique_ptr<LocalGraph> localize(const PreparedGraph& graph, Rank rank, const LocalizeOptions& options) {
  return localize(parted(graph, !options.induced_on.empty()), rank, options);
}

std::unique_ptr<LocalGraph> localize(const PartedGraph& graph, Rank rank, const LocalizeOptions& options) {
  const int part = options.ranks.part_of(rank);
  const Source source(graph, part, options.induced_on);
  const auto halo = source.halos[std::size_t(part)];
  auto local = std::make_unique<LocalGraph>();
  local->rank = rank;
  local->part = part;
  set_ids(source, halo, *local);
  local->counted = local->owned;
  set_slices(part, source, *local);
  split_rows(source, halo, *local);
  set_transposes(options.attention, *local);
  set_scales(source, halo, options.normalisation, *local);
  set_peers(source, part, options.ranks, *local);
  return local;
}

std::vector<Index> rows_by_rank(const PreparedGraph& graph, const LocalizeOptions& options) {
  const auto is_held = [&](VertexId id) { return options.induced_on[id]; };
  std::vector<Index> rows;
  for (Rank rank = 0; rank < graph.parts(); ++rank) {
    const auto part = std::size_t(options.ranks.part_of(rank));
    const Index begin = graph.part_offsets()[part], count = graph.part_offsets()[part + 1] - begin;
    const auto ids = graph.ids().subspan(std::size_t(begin), std::size_t(count));
    rows.push_back(options.induced_on.empty() ? count : std::ranges::count_if(ids, is_held));
  }
  return rows;
}

Block LocalGraph::own_block() const {
  Block block;
  block.arcs = own.view();
  block.transpose = own_is_symmetric ? own.view() : own_transpose.view();
  block.transpose_arc = own_arc.empty() ? nullptr : own_arc.data();
  block.dst_scale = data_or_null(dst_scale, 0);
  block.src_scale = data_or_null(src_scale, 0);
  block.dst_ids = block.src_ids = std::span(ids).first(std::size_t(owned));
  block.dst_are_sources = true;
  return block;
}

Block LocalGraph::outer_block() const {
  Block block;
  block.arcs = outer.view();
  block.transpose = outer_transpose.view();
  block.transpose_arc = outer_arc.empty() ? nullptr : outer_arc.data();
  block.dst_scale = data_or_null(dst_scale, 0);
  block.src_scale = data_or_null(src_scale, owned);
  block.dst_ids = std::span(ids).first(std::size_t(owned));
  block.src_ids = std::span(ids).subspan(std::size_t(owned));
  return block;
}

}  // namespace atl
