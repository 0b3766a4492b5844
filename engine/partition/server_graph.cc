#include "partition/server_graph.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "graph/csr.h"
#include "graph/row_table.h"

namespace atl {
namespace {

constexpr double kSlack = 1.05;  // the most work that a rank may have, relative to the mean
constexpr double kRowsWork =
    16;  // the products of one row cost as much as reading this many arcs, at about 64 columns per layer

class Expansion {
 public:
  Expansion(const PreparedGraph& prepared, const ServerOptions& options)
      : o_(options),
        graph_(options.induced_on.empty() ? prepared.graph() : prepared.induced_graph()),
        ids_(prepared.ids()),
        offsets_(prepared.part_offsets().subspan(std::size_t(options.first_part),
                                                 std::size_t(options.parts) + 1)) {
    table_.clear();
  }

  ServerGraph make() {
    take_own();
    walk();
    measure();
    divide();
    ServerGraph out;
    number(out);
    cut(out);
    return out;
  }

 private:
  /// A row that was drawn, or is the server's own.
  struct Row {
    std::int32_t hop = 0;        // number of the hop that drew it
    std::int32_t distance = -1;  // −1: no layer reads it
    std::int32_t rank = -1;
    VertexId place = -1;  // among rows_
  };
  /// nullptr: `row` was neither drawn nor own.
  const Row* find(VertexId row) const {
    const VertexId number = table_.find(row);
    return number < 0 ? nullptr : &known_[std::size_t(number)];
  }
  Row* find(VertexId row) {
    const VertexId number = table_.find(row);
    return number < 0 ? nullptr : &known_[std::size_t(number)];
  }
  /// `row` must be known.
  const Row& of(VertexId row) const { return *find(row); }
  Row& of(VertexId row) { return *find(row); }
  /// False if the row is known already.
  bool add(VertexId row, int hop) {
    if (table_.find_or_add(row, VertexId(known_.size())) < VertexId(known_.size())) return false;
    known_.push_back({hop});
    return true;
  }

  void take_own() {
    for (Index row = offsets_.front(); !o_.batch && row < offsets_.back(); ++row)
      if (o_.induced_on.empty() || o_.induced_on[ids_[std::size_t(row)]]) own_.push_back(VertexId(row));
    if (o_.batch) own_.assign(o_.batch->begin(), o_.batch->end());
    for (const VertexId row : own_) add(row, 0);
  }
  bool is_own(VertexId row) const {
    const Row* known = find(row);
    return known != nullptr && known->hop == 0;
  }

  /// Adds the vertices around the own ones, breadth first. Own vertices are known already. Draws decide which
  /// other neighbours are added.
  void walk() {
    std::vector<VertexId> front = own_;
    for (int hop = 1; hop <= o_.max_hop && !front.empty(); ++hop) {
      std::vector<VertexId> next;
      for (const VertexId row : front)
        for (const VertexId other : kept_neighbours(row))
          if (add(other, hop)) next.push_back(other);
      front = std::move(next);
    }
  }

  /// Computes distances among the drawn rows, and the list of copies. An arc counts if both its ends were
  /// drawn, even if no draw kept that arc.
  void measure() {
    std::vector<VertexId> front = own_;
    for (const VertexId row : own_) of(row).distance = 0;
    for (int distance = 1; distance <= o_.layers && !front.empty(); ++distance) {
      std::vector<VertexId> next;
      for (const VertexId row : front)
        for (const VertexId other : graph_.row(row)) {
          Row* known = find(other);
          if (known == nullptr || known->distance >= 0) continue;
          known->distance = distance;
          next.push_back(other);
        }
      std::ranges::sort(next);
      copies_.insert(copies_.end(), next.begin(), next.end());
      front = std::move(next);
    }
  }

  /// The neighbours on other servers that the draw keeps for a vertex. A copy's self-loop is left out, so
  /// that it takes no neighbour's place. The draw's key is the two vertices, so every server that asks draws
  /// the same.
  std::span<const VertexId> kept_neighbours(VertexId row) {
    kept_.clear();
    for (const VertexId other : graph_.row(row))
      if (other != row && !is_own(other)) kept_.push_back(other);
    if (o_.fanout < 0 || kept_.size() <= std::size_t(o_.fanout)) return kept_;
    const Draws draws(o_.seed, Purpose::kExpansion, o_.epoch);
    const auto key = [&](VertexId other) {
      return draws.bits64_at(std::uint64_t(ids_[std::size_t(row)]), std::uint64_t(ids_[std::size_t(other)]));
    };
    std::ranges::nth_element(kept_, kept_.begin() + o_.fanout, {}, key);
    return std::span(kept_).first(std::size_t(o_.fanout));
  }

  /// Gives own vertices to the ranks whose parts they are in. Each copy, and each vertex of a batch, goes to
  /// a rank that has many of its neighbours and much room (Stanton & Kliot 2012, linear deterministic
  /// greedy). Room is measured in work, so that ranks finish together.
  void divide() {
    const auto ranks = std::size_t(o_.parts);
    std::vector<double> load(ranks);
    if (o_.batch) {
      hand_out(own_, load);
    } else {
      std::size_t rank = 0;
      for (const VertexId row : own_) {
        while (row >= offsets_[rank + 1]) ++rank;
        of(row).rank = std::int32_t(rank);
        load[rank] += work(row);
      }
    }
    hand_out(copies_, load);
  }

  /// Work in arcs: for each layer that computes the row, its arcs and its products. An input row counts 1,
  /// for its memory.
  double work(VertexId row) const {
    const int layers = o_.layers - of(row).distance;
    if (layers == 0) return 1;
    const auto reads = std::ranges::count_if(graph_.row(row), [&](VertexId other) {
      const Row* known = find(other);
      return known != nullptr && known->distance >= 0;
    });
    return layers * (kRowsWork + double(reads));
  }

  void hand_out(std::span<const VertexId> rows, std::vector<double>& load) {
    const std::size_t ranks = load.size();
    double room = std::accumulate(load.begin(), load.end(), 0.0);
    for (const VertexId row : rows) room += work(row);
    room *= kSlack / double(ranks);
    std::vector<double> near(ranks);
    for (const VertexId copy : rows) {
      std::fill(near.begin(), near.end(), 0);
      for (const VertexId other : graph_.row(copy))
        if (const Row* known = find(other); known != nullptr && known->rank >= 0)
          near[std::size_t(known->rank)] += 1;
      std::size_t best = 0;
      const auto score = [&](std::size_t r) { return (1 + near[r]) * (1 - load[r] / room); };
      for (std::size_t r = 1; r < ranks; ++r)
        if (score(r) > score(best)) best = r;
      of(copy).rank = std::int32_t(best);
      load[best] += work(copy);
    }
  }

  void number(ServerGraph& out) {
    out.part_offsets.push_back(0);
    for (int r = 0; r < o_.parts; ++r) {
      for (const VertexId row : own_)
        if (of(row).rank == r) rows_.push_back(row);
      out.counted.push_back(Index(rows_.size()) - out.part_offsets.back());
      for (const VertexId copy : copies_)
        if (of(copy).rank == r) rows_.push_back(copy);
      out.part_offsets.push_back(Index(rows_.size()));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      of(rows_[i]).place = VertexId(i);
      out.ids.push_back(ids_[std::size_t(rows_[i])]);
      out.distances.push_back(of(rows_[i]).distance);
    }
  }

  /// Takes the arcs between the server's rows, but only for rows that some layer computes.
  void cut(ServerGraph& out) {
    out.graph.rows = out.graph.cols = Index(rows_.size());
    out.halos.resize(std::size_t(o_.parts)), out.near.resize(std::size_t(o_.parts));
    std::vector<std::pair<VertexId, float>> row;
    std::vector<std::pair<VertexId, std::int32_t>> read;  // a halo row, and its reader's distance
    for (int r = 0; r < o_.parts; ++r) {
      const Index begin = out.part_offsets[std::size_t(r)], end = out.part_offsets[std::size_t(r) + 1];
      read.clear();
      for (Index i = begin; i < end; ++i) {
        const Index from = rows_[std::size_t(i)];
        const std::int32_t distance = out.distances[std::size_t(i)];
        row.clear();
        for (Index e = graph_.offsets[from]; distance < o_.layers && e < graph_.offsets[from + 1]; ++e) {
          const Row* known = find(graph_.columns[e]);
          const VertexId to = known == nullptr ? -1 : known->place;
          if (to < 0) continue;
          row.emplace_back(to, graph_.weights == nullptr ? 1.F : graph_.weights[e]);
          if (to < begin || to >= end) read.emplace_back(to, distance);
        }
        append(row, out.graph);
        out.degrees.push_back(o_.samples ? drawn_degree(from) : degree_of(graph_, from));
      }
      std::ranges::sort(read);
      for (const auto& [to, nearest] : read) {
        if (!out.halos[std::size_t(r)].empty() && out.halos[std::size_t(r)].back() == to) continue;
        out.halos[std::size_t(r)].push_back(to), out.near[std::size_t(r)].push_back(nearest);
      }
    }
  }

  void append(std::vector<std::pair<VertexId, float>>& row, Csr& graph) const {
    std::ranges::stable_sort(row, {}, &std::pair<VertexId, float>::first);
    for (const auto& [to, weight] : row) {
      graph.columns.push_back(to);
      if (graph_.weights != nullptr) graph.weights.push_back(weight);
    }
    graph.offsets.push_back(graph.arcs());
  }

  /// A vertex that lost neighbours to sampling has the degree that is left.
  double drawn_degree(Index row) const {
    double left = 0;
    for (Index e = graph_.offsets[row]; e < graph_.offsets[row + 1]; ++e)
      if (find(graph_.columns[e]) != nullptr) left += graph_.weights == nullptr ? 1 : graph_.weights[e];
    return left;
  }

  const ServerOptions& o_;
  CsrView graph_;
  std::span<const VertexId> ids_;
  std::span<const Index> offsets_;  // of the server's parts
  RowTable table_;                  // the place of each row in known_; its size doesn't grow with the graph
  std::vector<Row> known_;
  std::vector<VertexId> own_, copies_, kept_, rows_;
};

}  // namespace

PartedGraph ServerGraph::view() const {
  PartedGraph parted{graph.view(), part_offsets, {}, ids, part_offsets, 1, degrees};
  for (const std::vector<VertexId>& each : halos) parted.halos.push_back(each);
  return parted;
}

Index ServerGraph::bytes() const {
  const auto of = [](const auto& values) { return Index(values.size() * sizeof(values[0])); };
  Index sum =
      of(ids) + of(distances) + of(degrees) + of(graph.offsets) + of(graph.columns) + of(graph.weights);
  for (const auto& each : halos) sum += 2 * of(each);  // `near` is as large
  return sum;
}

ServerGraph server_graph(const PreparedGraph& prepared, const ServerOptions& options) {
  return Expansion(prepared, options).make();
}

}  // namespace atl
